// Every block of YAML on a page is checked by what reads it: an object by its schema, a standalone file by the loader,
// values by the schema of the chart, and a part of one of them in its place.
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { parseAllDocuments, stringify } from 'yaml'
import { describe, expect, it } from 'vitest'
import { isKnownKind, validateObject } from '#api/validate/validate.ts'
import { loadStandalone } from '#proxy/config/standalone/load.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGES = globSync('{README.md,docs/**/*.md}', { cwd: ROOT }).toSorted()
/** Values of variables in files of pages, unless the file needs another one. */
const VALUE = 'value'
const VALUES: Readonly<Record<string, string>> = { UI_USERS: 'admin:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=' }

type Part = Readonly<Record<string, unknown>>
type Check = (part: Part) => readonly string[]

interface Document {
  readonly page: string
  readonly place: string
  readonly part: Part
}

const gw = (kind: string, spec: object): Part => ({
  apiVersion: 'gw.dev/v1alpha1',
  kind,
  metadata: { name: 'part', namespace: 'default' },
  spec,
})
const targetRefs = [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'part' }]

const object: Check = (part) => validateObject(part).problems.map(({ path, message }) => `${path}: ${message}`)
const parameters: Check = (part) => object(gw('GwParameters', part))
const traffic: Check = (part) => object(gw('GwPolicy', { targetRefs, traffic: part }))
const mcpPolicy: Check = (part) => object(gw('GwPolicy', { targetRefs, backend: { mcp: part } }))
const guardrail: Check = (part) =>
  mcpPolicy({ guardrails: { processors: [{ methods: { 'tools/call': 'Full' }, ...part }] } })
const mcpBackend: Check = (part) => object(gw('GwBackend', { mcp: part }))
const values: Check = (part) => {
  const schema = JSON.parse(readFileSync(join(ROOT, 'config/helm/gw/values.schema.json'), 'utf8')) as object
  const isValid = new Ajv({ strict: false, allErrors: true }).compile(schema)
  return isValid(part) ? [] : (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`)
}
const modelPart: Check = (part) => standalone({ llm: { models: [{ name: 'a', provider: 'anthropic', ...part }] } })
const modelRoutes: Check = (part) =>
  object(gw('GwBackend', { ai: { provider: { p5: { model: 'gemini-2.5-flash' } } }, policies: { ai: part } }))
/** Beside the required fields, which the first block of the page has. */
const signIn: Check = ({ mcpAuthentication: part }) => {
  const jwks = { url: 'https://idp.example.com/keys' }
  const resourceMetadata = { resource: 'https://mcp.example.com/mcp' }
  const required = { issuer: 'https://idp.example.com', audiences: ['a'], jwks, resourceMetadata }
  const policies = { mcpAuthentication: { ...required, ...(part as object) } } // the loader checks it
  return standalone({
    mcp: { port: 3000, policies, targets: [{ name: 'a', mcp: { host: 'http://127.0.0.1:1/mcp' } }] },
  })
}

/** Files that it names exist in an empty folder. */
function standalone(part: Part): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'gw-docs-yaml-'))
  try {
    const text = stringify(part)
    for (const [, file = ''] of text.matchAll(/\bfile: ([\w.-]+)/g))
      writeFileSync(join(folder, file), FILES[file] ?? '')
    const { problems } = loadStandalone({ path: join(folder, 'gw.yaml'), text, environment: variablesOf(text) })
    return problems.flatMap(({ severity, path, message }) => (severity === 'error' ? [`${path}: ${message}`] : []))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function variablesOf(text: string): Record<string, string> {
  const names = [...text.matchAll(/\$\{?([A-Z][A-Z0-9_]*)/g)].map(([, name = '']) => name)
  return Object.fromEntries(names.map((name) => [name, VALUES[name] ?? VALUE]))
}

/** The files of pages that standalone files of pages name. */
const FILES: Readonly<Record<string, string>> = {
  'pets.yaml': /# pets\.yaml\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/mcp/openapi.md'), 'utf8'))?.[1] ?? '',
  'pets-key': 'key',
}

/** What a block that is not a whole object or file is a part of, by its page and first field. */
const PARTS: Readonly<Record<string, Check>> = {
  'docs/cel.md authorization': traffic,
  'docs/deployment.md deployment': parameters,
  'docs/deployment.md image': parameters,
  'docs/deployment.md service': parameters,
  'docs/deployment.md serviceAccount': parameters,
  'docs/install.md networkPolicy': values,
  'docs/llm/gemini.md routes': modelRoutes,
  'docs/llm/failover.md params': modelPart,
  'docs/llm/start.md params': modelPart,
  'docs/mcp/guardrails.md remote': guardrail,
  'docs/mcp/multiplexing.md targets': mcpBackend,
  'docs/mcp/sign-in.md mcpAuthentication': signIn,
  'docs/policies/backend-mcp.md authorization': mcpPolicy,
  'docs/shared-gateways.md controller': values,
}

/** Formats of other programs, and files that other tests load. */
const OTHERS: Readonly<Record<string, string>> = {
  'docs/alerts.md scrape_configs': 'a configuration of Prometheus: test/monitoring/scrape-config.test.ts',
  'docs/llm/budgets.md domain': 'the file of the rate limit service of Envoy',
  'docs/policies/rate-limit.md domain': 'the same',
  'docs/llm/model-traits.md models': 'test/pages/starts.test.ts starts the gateway with it',
  'docs/mcp/openapi.md openapi': 'FILES: it is the document of the standalone file above it',
  'docs/migrating.md config': 'a file of another gateway: test/pages/migrating.test.ts translates it',
}

const ROOT_FIELDS = new Set(
  Object.keys(
    (
      JSON.parse(readFileSync(join(ROOT, 'config/standalone/gw-standalone.schema.json'), 'utf8')) as {
        properties: object
      }
    ).properties,
  ),
)

function documentsOf(page: string): Document[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/^ *```ya?ml\n([\s\S]*?)^ *```/gm)].flatMap(({ 1: block = '', index }) => {
    const place = `${page}:${text.slice(0, index).split('\n').length}`
    return parseAllDocuments(block).map((document) => ({ page, place, part: document.toJS() as Part })) // as checked
  })
}

/** undefined: no program reads it. */
function checkOf({ page, part }: Document): Check | undefined {
  const [first = ''] = Object.keys(part)
  const name = `${page} ${first}`
  if (OTHERS[name] !== undefined) return () => []
  if (PARTS[name] !== undefined) return PARTS[name]
  if (isKnownKind(part)) return object
  // Objects of Kubernetes itself: kubectl and the API server check the files of the samples.
  if ('kind' in part)
    return 'apiVersion' in part && 'metadata' in part !== (part['kind'] === 'Kustomization') ? () => [] : undefined
  return Object.keys(part).every((field) => ROOT_FIELDS.has(field)) ? standalone : undefined
}

describe('yaml of pages', () => {
  const documents = PAGES.flatMap(documentsOf)

  it('is found', () => expect(documents.length).toBeGreaterThan(120))

  it('belongs to an object, a file, or a place in one of them (PARTS, OTHERS)', () => {
    expect(documents.filter((one) => checkOf(one) === undefined).map(({ place }) => place)).toEqual([])
  })

  it.each(documents.map((one) => [one.place, one] as const))('%s is valid', (_, one) => {
    expect(checkOf(one)?.(one.part)).toEqual([])
  })

  it.each([...Object.keys(PARTS), ...Object.keys(OTHERS)])('%s is still there', (name) => {
    expect(documents.some(({ page, part }) => name === `${page} ${Object.keys(part)[0]}`)).toBe(true)
  })
})
