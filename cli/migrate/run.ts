// gw migrate: reads the configuration of another gateway, and prints that of Gw and a report.
import type { FileProblem, LocatedDocument } from '#api/source/document.ts'
import { parseDocuments } from '#api/source/document.ts'
import { recordOf } from '#api/json.ts'
import { expandList } from '../manifests/load.ts'
import { readSources, type SourceFile } from '../manifests/files.ts'
import { printError, yamlText } from '../output.ts'
import { hasErrors, printProblems } from '../report.ts'
import { gatewayObject, migrateIngress } from './ingress.ts'

export interface MigrateFlags {
  readonly gateway: string
}

/** Resolves to the exit code. */
export async function migrateStandaloneCommand(path: string): Promise<number> {
  const { documents, problems, files } = documentsOf([path])
  const [document, second] = documents
  const [source, otherFile] = files
  if (problems.length > 0 || document === undefined || source === undefined) {
    printProblems(problems)
    if (problems.length === 0) printError(`${path}: no configuration in this file`)
    return 1
  }
  if (second !== undefined || otherFile !== undefined || 'apiVersion' in recordOf(document.value)) {
    printError(`${path}: must be one standalone file with one YAML document`)
    return 1
  }
  const { migrateStandalone } = await import('./standalone.ts')
  const { text, findings } = migrateStandalone(source.text)
  process.stdout.write(text)
  const located = findings.map((finding) => ({ ...document.locate(finding.path), ...finding }))
  printProblems(located)
  return hasErrors(located) ? 1 : 0
}

/** Resolves to the exit code. */
export async function migrateCommand(paths: readonly string[], { gateway }: MigrateFlags): Promise<number> {
  const { documents, problems } = documentsOf(paths)
  const ingresses = documents.filter(({ value }) => isKind(value, 'networking.k8s.io/', 'Ingress'))
  if (ingresses.length === 0 && problems.length === 0) {
    printError(`${paths.join(', ')}: no Ingress of networking.k8s.io; pass files that contain one`)
    return 1
  }
  const portOf = portNumbers(documents)
  const all = ingresses.map((document) => {
    const { findings, ...migrated } = migrateIngress(recordOf(document.value), { gateway, portOf })
    problems.push(...findings.map(({ path, ...finding }) => ({ ...document.locate(path), path, ...finding })))
    return migrated
  })
  const namespaces = Map.groupBy(all, ({ namespace }) => namespace)
  const gateways = [...namespaces].map(([namespace, migrated]) => {
    const listeners = new Map(migrated.flatMap((one) => one.listeners).map((one) => [one.hostname, one]))
    return gatewayObject(gateway, namespace, [...listeners.values()])
  })
  const objects = [...gateways, ...all.flatMap(({ routes, policies }) => [...routes, ...policies])]
  process.stdout.write(objects.map((object) => yamlText(object)).join('---\n'))
  printProblems(problems)
  return hasErrors(problems) ? 1 : 0
}

interface Read {
  readonly documents: LocatedDocument[]
  readonly problems: FileProblem[]
  readonly files: SourceFile[]
}

function documentsOf(paths: readonly string[]): Read {
  const [documents, problems, files]: [LocatedDocument[], FileProblem[], SourceFile[]] = [[], [], []]
  for (const path of paths) {
    const sources = readSources(path)
    if ('problem' in sources) {
      const { file, line, message } = sources
      problems.push({ file, line, column: Math.min(line, 1), path: '', message, severity: 'error' })
      continue
    }
    files.push(...sources.files)
    for (const file of sources.files) {
      const parsed = parseDocuments(file.path, file.text)
      problems.push(...parsed.problems)
      documents.push(...parsed.documents.flatMap(expandList))
    }
  }
  return { documents, problems, files }
}

function isKind(value: unknown, group: string, kind: string): boolean {
  const { apiVersion, kind: given } = recordOf(value)
  return given === kind && typeof apiVersion === 'string' && apiVersion.startsWith(group)
}

function portNumbers(documents: readonly LocatedDocument[]): Parameters<typeof migrateIngress>[1]['portOf'] {
  const numbers = new Map<string, number>()
  for (const { value } of documents.filter((one) => isKind(one.value, 'v1', 'Service'))) {
    const { metadata, spec } = recordOf(value)
    const { name, namespace = 'default' } = recordOf(metadata)
    const { ports } = recordOf(spec)
    for (const port of Array.isArray(ports) ? ports.map(recordOf) : []) {
      if (typeof port['port'] === 'number') {
        numbers.set(`${String(namespace)}/${String(name)}/${String(port['name'])}`, port['port'])
      }
    }
  }
  return ({ namespace, name, port }) => numbers.get(`${namespace}/${name}/${port}`)
}
