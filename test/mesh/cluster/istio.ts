// Istio in the test cluster: istiod with a CA of the test, and workloads of the mesh (test/mesh/peer/workload).
import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { issue, type Issued } from '#proxy/mesh/authority.testing.ts'
import { applyObject, kubectl, rolledOut } from '../../e2e/suite/kubectl.ts'
import { sample } from '../../e2e/suite/samples.ts'

export const SYSTEM = 'istio-system'
/** Namespace of the sample. */
export const NAMESPACE = 'mesh-demo'

const CA_SECRET = 'cacerts'
const DAY_MS = 86_400_000
const HIDDEN_BY_SAMPLE = 'Deployment'

export function newRoot(): Issued {
  return issue({ commonName: 'root of the mesh', isAuthority: true, untilMs: Date.now() + DAY_MS })
}

/** The authority that istiod reads at its start. Its certificates end with this authority. */
export async function useAuthority(root: Issued, lifetimeMs: number): Promise<void> {
  await makeAuthority({ root, lifetimeMs, namespace: SYSTEM, name: CA_SECRET })
}

interface AuthorityOptions {
  readonly root: Issued
  readonly lifetimeMs: number
  readonly namespace: string
  readonly name: string
}

/** A Secret in the form in which istiod reads it. */
export async function makeAuthority({ root, lifetimeMs, namespace, name }: AuthorityOptions): Promise<void> {
  const own = issue({ issuer: root, commonName: 'authority', isAuthority: true, untilMs: Date.now() + lifetimeMs })
  const stringData = {
    'ca-cert.pem': own.certificate,
    'ca-key.pem': own.privateKey,
    'cert-chain.pem': own.certificate,
    'root-cert.pem': root.certificate,
  }
  await applyObject({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData })
}

/** With an authority (`useAuthority`). As Istio installs it, but with the rights of an administrator. */
export async function installIstiod(image: string): Promise<void> {
  const labels = { app: 'istiod' }
  const subjects = [{ kind: 'ServiceAccount', name: 'istiod', namespace: SYSTEM }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
  const ports = [{ name: 'https-dns', port: 15_012 }]
  const metadata = { name: 'istiod', namespace: SYSTEM }
  await applyObject({ apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  await applyObject({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'istiod-of-test' },
    subjects,
    roleRef,
  })
  await applyObject({ apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports } })
  const template = { metadata: { labels }, spec: istiodPod(image) }
  const strategy = { type: 'Recreate' }
  await applyObject({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: { replicas: 1, strategy, selector: { matchLabels: labels }, template },
  })
  await rolledOut('deployment', SYSTEM, 'istiod')
}

function istiodPod(image: string): object {
  const field = (name: string, fieldPath: string): object => ({ name, valueFrom: { fieldRef: { fieldPath } } })
  return {
    serviceAccountName: 'istiod',
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'discovery',
        image,
        args: ['discovery', '--monitoringAddr', ':15014', '--domain', 'cluster.local'],
        env: [
          field('POD_NAME', 'metadata.name'),
          field('POD_NAMESPACE', 'metadata.namespace'),
          { name: 'ROOT_CA_DIR', value: '/etc/cacerts' },
          { name: 'INJECTION_WEBHOOK_CONFIG_NAME', value: '' },
          { name: 'VALIDATION_WEBHOOK_CONFIG_NAME', value: '' },
        ],
        readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 },
        volumeMounts: [{ name: CA_SECRET, mountPath: '/etc/cacerts', readOnly: true }],
      },
    ],
    volumes: [{ name: CA_SECRET, secret: { secretName: CA_SECRET } }],
  }
}

export async function scaleIstiod(replicas: 0 | 1): Promise<void> {
  await kubectl(['scale', '-n', SYSTEM, 'deployment/istiod', `--replicas=${replicas}`])
  if (replicas === 1) await rolledOut('deployment', SYSTEM, 'istiod')
  else await kubectl(['wait', '-n', SYSTEM, '--for=delete', 'pod', '-l', 'app=istiod', '--timeout', '60s'])
}

/** The authority in the Secret. */
export async function restartIstiod(): Promise<void> {
  await scaleIstiod(0)
  await scaleIstiod(1)
}

/** The sample of the mesh without its backend, whose place a workload with the same label takes. */
export function meshSample(): unknown[] {
  return parseAllDocuments(readFileSync(sample('mesh', 'mesh.yaml'), 'utf8'))
    .map((document) => document.toJS() as { readonly kind: string }) // Kubernetes objects
    .filter(({ kind }) => kind !== HIDDEN_BY_SAMPLE)
}

export interface WorkloadOptions {
  /** Of the Pod, of its service account and of its label `app`. */
  readonly name: string
  readonly image: string
  /** Its identity, which it signs itself; default: istiod issues its certificate. */
  readonly identity?: string
  /** Secret with the authority for identities that it signs itself (`makeAuthority`). */
  readonly authority: string
}

/** A Pod that serves tunnels, as one that Istio has added to the mesh. */
export async function startWorkload({ name, image, identity, authority }: WorkloadOptions): Promise<void> {
  const metadata = { name, namespace: NAMESPACE }
  await applyObject({ apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  const serviceAccountToken = { audience: 'istio-ca', expirationSeconds: 3600, path: 'istio-token' }
  await applyObject({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, labels: { app: name }, annotations: { 'ambient.istio.io/redirection': 'enabled' } },
    spec: {
      serviceAccountName: name,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'workload',
          image,
          args: ['serve', ...(identity === undefined ? [] : [identity])],
          ports: [{ name: 'echo', containerPort: 8080 }],
          readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 },
          volumeMounts: [
            { name: 'root', mountPath: '/var/run/secrets/istio' },
            { name: 'token', mountPath: '/var/run/secrets/tokens' },
            { name: 'authority', mountPath: '/etc/cacerts' },
          ],
        },
      ],
      volumes: [
        { name: 'root', configMap: { name: 'istio-ca-root-cert' } },
        { name: 'token', projected: { sources: [{ serviceAccountToken }] } },
        { name: 'authority', secret: { secretName: authority } },
      ],
    },
  })
  await kubectl(['wait', '-n', NAMESPACE, '--for=condition=Ready', '--timeout', '120s', `pod/${name}`])
}

export interface TunnelAnswer {
  readonly status?: number
  /** Response header `x-peer`. */
  readonly peer?: string
  /** Identity of the server of the tunnel. */
  readonly server?: string
  readonly body?: string
  readonly error?: string
}

/** A request of the HBONE client of Istio in the Pod of a workload; `identity` is one that it signs itself. */
export async function getThroughTunnel(
  workload: string,
  { tunnel, url, identity }: { readonly tunnel: string; readonly url: string; readonly identity?: string },
): Promise<TunnelAnswer> {
  const command = ['/program', 'get', tunnel, url, ...(identity === undefined ? [] : [identity])]
  const text = await kubectl(['exec', '-n', NAMESPACE, workload, '--', ...command])
  return JSON.parse(text) as TunnelAnswer // the program prints it
}
