// The one shape of a schema node inside the generators: OpenAPI v3 as CRDs use it, plus our authoring marks. Only a
// type.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** One `x-kubernetes-validations` entry. */
export interface Rule {
  rule: string
  message?: string
  messageExpression?: string
  reason?: string
  fieldPath?: string
  optionalOldSelf?: boolean
}

export interface SchemaNode {
  $ref?: string
  title?: string
  description?: string
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  format?: string
  default?: Json
  nullable?: boolean
  enum?: Json[]
  example?: Json
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  multipleOf?: number
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  minProperties?: number
  maxProperties?: number
  required?: string[]
  properties?: Record<string, SchemaNode>
  additionalProperties?: boolean | SchemaNode
  items?: SchemaNode
  oneOf?: SchemaNode[]
  anyOf?: SchemaNode[]
  allOf?: SchemaNode[]
  not?: SchemaNode
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: string[]
  'x-kubernetes-map-type'?: 'atomic' | 'granular'
  'x-kubernetes-validations'?: Rule[]
  /** Generators only: the description of the named type, where the place that uses it says something else. */
  'x-gw-type-description'?: string
  /** Authoring only: every file of this folder is a property. */
  'x-gw-fields'?: string
  /** Authoring only: the property name of this file, when the file name does not give it. */
  'x-gw-field'?: string
}
