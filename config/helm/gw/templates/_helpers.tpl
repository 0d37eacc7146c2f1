{{/* The one name of everything: gw-controller with a release called gw. */}}
{{- define "gw.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-controller" (.Values.nameOverride | default .Release.Name) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "gw.selector" -}}
app.kubernetes.io/name: {{ include "gw.fullname" . }}
{{- end -}}

{{- define "gw.labels" -}}
{{ include "gw.selector" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "gw.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "gw.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* Of cluster-wide objects: two releases in two namespaces do not meet. */}}
{{- define "gw.clusterName" -}}
{{- printf "%s-%s" (.Values.nameOverride | default .Release.Name) .Release.Namespace -}}
{{- end -}}

{{- define "gw.image" -}}
{{- $image := .Values.controller.image -}}
{{- $registry := $image.registry | default .Values.image.registry -}}
{{- $tag := $image.tag | default .Values.image.tag | default .Chart.AppVersion -}}
{{- if $registry }}{{ $registry }}/{{ end }}{{ $image.repository }}:{{ $tag }}
{{- end -}}

{{/* One list of variables: settings that are set, then extraEnv. */}}
{{- define "gw.env" -}}
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- with .Values.resources.limits }}
{{- with .memory }}
- name: NODE_OPTIONS
  value: --max-semi-space-size=4 --max-old-space-size-percentage=75
{{- end }}
{{- end }}
- name: GW_LOG_LEVEL
  value: {{ .Values.controller.logLevel | quote }}
{{- $proxy := .Values.proxy.image }}
{{- $settings := dict
  "GW_CONTROLLER_NAME" .Values.controllerName
  "GW_GATEWAY_CLASS_NAME" .Values.gatewayClassName
  "GW_PROXY_IMAGE_REGISTRY" $proxy.registry
  "GW_PROXY_IMAGE_REPOSITORY" $proxy.repository
  "GW_PROXY_IMAGE_TAG" $proxy.tag
}}
{{- range $name := keys $settings | sortAlpha }}
{{- with get $settings $name }}
- name: {{ $name }}
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- with .Values.gatewayClassParametersRefs }}
- name: GW_GATEWAY_CLASS_PARAMETERS_REFS
  value: {{ toJson . | quote }}
{{- end }}
{{- with .Values.discoveryNamespaceSelectors }}
- name: GW_DISCOVERY_NAMESPACE_SELECTORS
  value: {{ toJson . | quote }}
{{- end }}
{{- with .Values.watchNamespaces }}
- name: GW_WATCH_NAMESPACES
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.gatewayRestrictions.parameters }}
- name: GW_GATEWAY_PARAMETERS
  value: {{ . | quote }}
{{- end }}
{{- with .Values.gatewayRestrictions.allowedFields }}
- name: GW_GATEWAY_PARAMETERS_ALLOWED_FIELDS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.gatewayRestrictions.enforcedFields }}
- name: GW_CLASS_PARAMETERS_ENFORCED_FIELDS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.gatewayRestrictions.deniedKeyPrefixes }}
- name: GW_GATEWAY_DENIED_KEY_PREFIXES
  value: {{ join "," . | quote }}
{{- end }}
{{- range $name := keys .Values.controller.settings | sortAlpha }}
- name: GW_{{ $name | snakecase | upper }}
  value: {{ get $.Values.controller.settings $name | toString | quote }}
{{- end }}
{{- if .Values.gwModels.enabled }}
- name: GW_ENABLE_MODELS
  value: "true"
{{- end }}
{{- if .Values.inferenceExtension.enabled }}
- name: GW_ENABLE_INFER_EXT
  value: "true"
{{- end }}
{{- range $name := keys .Values.controller.extraEnv | sortAlpha }}
{{- $value := get $.Values.controller.extraEnv $name }}
- name: {{ $name }}
{{- if kindIs "map" $value }}
{{ toYaml $value | indent 2 }}
{{- else }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}
{{- end -}}
