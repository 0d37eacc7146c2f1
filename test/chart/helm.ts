// helm for tests without a cluster: GW_HELM, PATH, or the build of hack/helm.sh.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'

const ROOT = resolve(import.meta.dirname, '../..')

export interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

/** Also completes the charts, which share files with the kustomizations. */
export function findHelm(): string | undefined {
  execFileSync(join(ROOT, 'hack/charts.sh'))
  const places = [
    process.env['GW_HELM'] ?? '',
    ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'helm')),
    ...globSync(join(ROOT, '.cache/tools/helm-v*')),
  ]
  return places.find((place) => place !== '' && existsSync(place))
}

function argumentsOf(chart: string, more: readonly string[]): string[] {
  return ['template', 'gw', join(ROOT, 'config/helm', chart), '-n', 'gw-system', '--kube-version', '1.34.0', ...more]
}

export function render(helm: string, chart: string, ...more: readonly string[]): Manifest[] {
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: 'pipe' } as const
  const documents = parseAllDocuments(execFileSync(helm, argumentsOf(chart, more), options))
  return documents.map((document) => document.toJS() as Manifest | null).filter((one) => one !== null) // of Kubernetes
}

/** The error message of helm. */
export function refusal(helm: string, chart: string, ...more: readonly string[]): string {
  const { status, stderr } = spawnSync(helm, argumentsOf(chart, more), { encoding: 'utf8' })
  return status === 0 ? '' : stderr
}
