// What charts share with the kustomizations and with each other: Helm warns about links, so they have copies.
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Output } from '../output.ts'

const CHARTS = 'config/helm'
const KINDS = 'config/crd/'
const KINDS_CHART = `${CHARTS}/gw-crds`
/** Where Helm looks for a chart that another one depends on. */
const DEPENDENCY = `${CHARTS}/gw/charts/gw-crds`

const COPIES: Readonly<Record<string, readonly string[]>> = {
  [`${CHARTS}/gw/files/rbac`]: [
    'config/rbac/cluster-role.yaml',
    'config/rbac/cluster-scope-role.yaml',
    'config/rbac/role.yaml',
  ],
  [`${CHARTS}/gw/files/grafana`]: ['config/grafana/gw-proxy.json'],
  [`${CHARTS}/gw/files/inference`]: ['config/components/inference/rules.yaml'],
  [DEPENDENCY]: ['Chart.yaml', 'values.yaml', 'values.schema.json'].map((file) => `${KINDS_CHART}/${file}`),
  [`${DEPENDENCY}/templates`]: [`${KINDS_CHART}/templates/crds.yaml`],
}

/** After the generator of the CRDs. */
export async function chartFiles(root: string, output: Output): Promise<void> {
  for (const path of output.paths().filter((one) => one.startsWith(KINDS))) {
    const text = output.text(path) ?? ''
    for (const chart of [KINDS_CHART, DEPENDENCY]) output.add(`${chart}/files/crd/${basename(path)}`, text)
  }
  for (const [folder, files] of Object.entries(COPIES)) {
    for (const file of files) output.add(`${folder}/${basename(file)}`, await readFile(join(root, file), 'utf8'))
  }
}
