// Rules of the repository: content of folders, allowed imports, forbidden content of files (CONTRIBUTING.md).
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import * as REGISTERED from '#operator/translate/policy/registry.ts'
import { BACKEND, FRONTEND, TRAFFIC } from '#proxy/policy/fields.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const COLUMNS_MAX = 120

/** Folder to the folders it may import besides itself; `*` is everything. Packages are not listed. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'api/v1alpha1': ['api/kube', 'api/problem.ts', 'api/group.ts', 'api/gateway'],
  api: [],
  codegen: ['api/group.ts'],
  operator: ['api', 'deployer'],
  deployer: ['api'],
  proxy: ['api'],
  // `run` and `translate` load them lazily.
  cli: ['api', 'operator/translate', 'operator/jwks', 'operator/main.ts', 'deployer', 'proxy'],
  // The same tables and words as on the command line.
  ui: ['api/admin', 'cli/explain', 'cli/proxy', 'cli/trace', 'cli/tui'],
  bench: ['*'],
  test: ['*'],
  hack: ['*'],
}

/**
 * Inside the operator: imports in the wrong direction of the data (docs/architecture.md). Types count too. For the
 * proxy see tidy-layers.test.ts.
 */
const MUST_NOT_IMPORT: readonly (readonly [folders: readonly string[], others: readonly string[]])[] = [
  [['operator/http'], ['translate', 'status', 'kube', 'jwks', 'publish', 'admin', 'controllers'].map(ofOperator)],
  [
    ['operator/translate', 'operator/status'],
    ['http', 'kube', 'jwks', 'publish', 'admin', 'controllers'].map(ofOperator),
  ],
  [['operator/kube'], ['status', 'jwks', 'publish', 'admin', 'controllers'].map(ofOperator)],
  [['operator/jwks', 'operator/publish'], ['status', 'admin', 'controllers'].map(ofOperator)],
]

function ofOperator(name: string): string {
  return `operator/${name}`
}

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)))
const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.gen.ts') && !file.endsWith('.d.ts'))
const sourceSet = new Set(sources)
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const isTest = (file: string): boolean =>
  /\.test(ing)?\.ts$/.test(file) || file.startsWith('test/') || /\/(testdata|bench|conformance)\//.test(file)

/** Benchmarks of the code beside them. */
const isBench = (file: string): boolean => /(^|\/)bench(\/|\.ts$)/.test(file)

/** Paths below the root that a file imports; packages are left out. */
function importsOf(file: string): string[] {
  const text = read(file)
  const found: string[] = []
  for (const [, specifier = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)) {
    if (specifier.startsWith('#')) found.push(specifier.slice(1))
    else if (specifier.startsWith('.')) found.push(normalize(join(dirname(file), specifier)))
  }
  return found
}

/** Files that a file imports, directly or through others. */
function reachableFrom(file: string): Set<string> {
  const found = new Set<string>()
  const open = [file]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const target of knownImportsOf(next)) {
      if (!found.has(target)) open.push(target)
      found.add(target)
    }
  }
  return found
}

const known = new Map<string, readonly string[]>()

/** Generated files import only each other. */
function knownImportsOf(file: string): readonly string[] {
  let imports = known.get(file)
  if (imports === undefined) known.set(file, (imports = importsOf(file).filter((one) => sourceSet.has(one))))
  return imports
}

function folderRule(file: string): readonly [string, readonly string[]] | undefined {
  return Object.entries(MAY_IMPORT)
    .sort(([a], [b]) => b.length - a.length)
    .find(([folder]) => file.startsWith(`${folder}/`))
}

describe('tidy', () => {
  it('imports follow the direction of the data', () => {
    const wrong: string[] = []
    for (const file of sources.filter((source) => !isTest(source))) {
      const rule = folderRule(file)
      if (rule === undefined || rule[1].includes('*')) continue
      const [folder, allowed] = rule
      for (const target of importsOf(file)) {
        const isAllowed = [folder, ...allowed, 'package.json'].some(
          (place) => target === place || target.startsWith(`${place}/`),
        )
        if (!isAllowed) wrong.push(`${file} imports ${target}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('inside a program no import has the wrong direction', () => {
    const wrong = MUST_NOT_IMPORT.flatMap(([folders, others]) =>
      folders.flatMap((folder) => {
        const own = sources.filter((file) => file.startsWith(`${folder}/`) && !isTest(file))
        expect(own, `sources of ${folder}`).not.toEqual([])
        const isWrong = (target: string): boolean =>
          others.some((other) => target === other || target.startsWith(`${other}/`))
        return own.flatMap((file) =>
          importsOf(file)
            .filter(isWrong)
            .map((target) => `${file} imports ${target}`),
        )
      }),
    )
    expect(wrong).toEqual([])
  })

  it('no file imports itself through other files, not even types', () => {
    const own = sources.filter((file) => !isTest(file))
    expect(own.filter((file) => reachableFrom(file).has(file))).toEqual([])
  })

  it.each(['operator'])('in %s no two folders import each other', (program) => {
    const pairs = new Map<string, string>()
    const own = sources.filter(
      (file) => file.startsWith(`${program}/`) && !isTest(file) && !file.endsWith('.testing.ts'),
    )
    for (const file of own) {
      for (const target of knownImportsOf(file)) {
        const isOther = target.startsWith(`${program}/`) && dirname(target) !== dirname(file)
        if (isOther) pairs.set(`${dirname(file)} ${dirname(target)}`, `${file} imports ${target}`)
      }
    }
    const isMutual = (pair: string): boolean => pairs.has(pair.split(' ').reverse().join(' '))
    expect([...pairs].filter(([pair]) => isMutual(pair)).map(([, example]) => example)).toEqual([])
  })

  it('the data plane and pure parts of the control plane do not import Effect', () => {
    const pure = sources.filter((file) => /^(proxy|deployer|operator\/translate|api)\//.test(file) && !isTest(file))
    expect(pure.filter((file) => /from '(effect|@effect\/)/.test(read(file)))).toEqual([])
  })

  it('programs import the libraries of clouds late, so that no start loads them', () => {
    const library = /^(?:ex|im)port (?!type )(?:[^'()]* from )?'(?:@aws-sdk|@azure|@smithy|google-auth-library)\b/m
    const programs = sources.filter((file) => !isTest(file) && !isBench(file) && library.test(read(file)))
    expect(programs).toEqual([])
  })

  it('pages of the web UI use nothing of Node', () => {
    const pages = files.filter((file) => /^ui\/.*\.tsx?$/.test(file))
    expect(pages.length).toBeGreaterThan(0)
    expect(pages.filter((file) => /'node:|\b(?:process|Buffer)\.[a-z]/.test(read(file)))).toEqual([])
  })

  it('no file has a generic name, and none only re-exports other files', () => {
    const named = sources.filter((file) => /(^|\/)(utils?|common|misc|helpers?|shared)(\.ts|\/)/.test(file))
    expect(named).toEqual([])
    const barrels = sources.filter((file) => {
      const lines = read(file)
        .split('\n')
        .filter((line) => line.trim() !== '' && !line.startsWith('//'))
      return lines.length > 0 && lines.every((line) => /^export .* from '/.test(line))
    })
    expect(barrels).toEqual([])
  })

  it('code for tests is named *.testing.ts, and no program imports it', () => {
    const elsewhere = sources.filter((file) => /(^|\/)(testing|test-support)(\/|\.ts$)/.test(file))
    expect(elsewhere).toEqual([])
    const programs = sources.filter((file) => !isTest(file) && !isBench(file) && !file.startsWith('hack/'))
    expect(programs.filter((file) => importsOf(file).some((target) => target.endsWith('.testing.ts')))).toEqual([])
  })

  it('every source has a description in its first line', () => {
    const silent = sources.filter((file) => !file.endsWith('.test.ts') && !file.endsWith('vitest.config.ts'))
    expect(silent.filter((file) => !/^(\/\/|\/\*|#!)/.test(read(file)))).toEqual([])
  })

  it('lines are not too long, and every TODO has an issue', () => {
    const wrong: string[] = []
    for (const file of sources) {
      for (const [index, line] of read(file).split('\n').entries()) {
        const place = `${file}:${index + 1}`
        // The formatter wraps code, but no strings and expressions; this test checks comments.
        const isComment = /^\s*(\/\/|\/\*|\*( |\/|$))/.test(line)
        if (isComment && line.length > COLUMNS_MAX) wrong.push(`${place} has ${line.length} columns`)
        if (/\b(TODO|FIXME|XXX|HACK)\b(?! ?\(#\d+\))/.test(line) && file !== 'test/tidy.test.ts')
          wrong.push(`${place} ${line.trim()}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('generated files have a header', () => {
    const generated = files.filter((file) => /\.gen\.(ts|js)$/.test(file))
    expect(generated.length).toBeGreaterThan(0)
    expect(
      generated.filter((file) => !/Generated .*make generate.*Do not edit/.test(read(file).slice(0, 400))),
    ).toEqual([])
  })

  it('types contain no any', () => {
    const generated = files.filter((file) => file.endsWith('.gen.ts'))
    expect(
      generated.filter((file) =>
        /[:<|&(]\s*any\b|\bany\[\]/.test(read(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')),
      ),
    ).toEqual([])
  })
})

/** Cases of filters in routes: test/policy-coverage/filters.test.ts has their kinds. */
const FILTER_PAGES = ['backend-ref-filters', 'mirror', 'route-headers', 'route-redirect', 'route-rewrite']
const REGISTRY = 'operator/translate/policy/registry.ts'

/** Fields of the API with another name in the configuration of the proxy; the others have the same name. */
const RENDERED: Readonly<Record<string, readonly string[]>> = {
  'traffic.rateLimit': ['rateLimit', 'rateLimitGlobal'],
  'traffic.headerModifiers': ['requestHeaderModifier', 'responseHeaderModifier'],
  'backend.mcp': ['mcpAuthentication', 'mcpAuthorization'],
}
const PROXY_TABLES = { traffic: TRAFFIC, frontend: FRONTEND, backend: BACKEND } as const
const OPERATOR_TABLES = {
  traffic: REGISTERED.TRAFFIC,
  frontend: REGISTERED.FRONTEND,
  backend: REGISTERED.BACKEND,
} as const

interface RunField {
  readonly section: 'traffic' | 'frontend' | 'backend'
  readonly field: string
  /** File of the translator, without ending. */
  readonly translator: string
}

/** Fields of the registry, with the file of their translator. */
function runFields(): RunField[] {
  const text = read(REGISTRY)
  const fileOf = new Map<string, string>()
  for (const [, names = '', file = ''] of text.matchAll(/import \{ ([^}]+) \} from '\.\/([a-z-]+)\.ts'/g)) {
    for (const name of names.split(/[\s,]+/)) fileOf.set(name, file)
  }
  return (['traffic', 'frontend', 'backend'] as const).flatMap((section) => {
    const body =
      new RegExp(`export const ${section.toUpperCase()} = \\{\\n([\\s\\S]*?)\\n\\} satisfies`).exec(text)?.[1] ?? ''
    const entries = [...body.matchAll(/^ {2}([a-zA-Z]+)(?:: ([a-zA-Z]+).*)?[,({]?$/gm)]
    return entries.map(([, field = '', translator = field]) => ({
      section,
      field,
      translator: fileOf.get(translator) ?? `(no import of ${translator} in ${REGISTRY})`,
    }))
  })
}

/** `csrf`, `frontend-http`, `backend-auth`: names of fields repeat over sections, traffic has the short ones. */
function featureName({ section, field }: RunField): string {
  return section === 'traffic' ? kebab(field) : `${section}-${kebab(field)}`
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The parts that a supported field must have; each stage returns the missing ones. */
function missingStages(feature: RunField): string[] {
  const { section, field, translator } = feature
  const name = featureName(feature)
  const schema = { traffic: 'traffic', frontend: 'frontend', backend: 'backend/full' }[section]
  const fixture = section === 'backend' ? `gwpolicy-backend/${kebab(field)}` : `gwpolicy/${name}`
  const wanted = [
    `api/v1alpha1/schema/${schema}/${kebab(field)}.yaml`,
    `api/v1alpha1/testdata/${fixture}.yaml`,
    `operator/translate/policy/${translator}.ts`,
    `operator/translate/testdata/${section}/${kebab(field)}-broken.in.yaml`,
    `config/samples/${name}.yaml`,
    `docs/policies/${name}.md`,
    `test/conformance/${name}.ts`,
  ].filter((file) => !files.includes(file))
  return [
    ...wanted,
    ...(hasGolden(section, field)
      ? []
      : [`a golden in operator/translate/testdata that sets spec.${section}.${field}`]),
    ...missingReaders(feature),
    ...(runsSample(name) ? [] : [`a case in test/conformance/${name}.ts that runs ${name}.yaml`]),
  ]
}

function hasGolden(section: string, field: string): boolean {
  const goldens = files.filter((file) => file.startsWith('operator/translate/testdata/') && file.endsWith('.in.yaml'))
  return goldens.some((file) =>
    parseAllDocuments(read(file)).some(
      (document) => document.getIn(['kind']) === 'GwPolicy' && document.hasIn(['spec', section, field]),
    ),
  )
}

interface ProxyField {
  readonly file: string
  readonly denyIfMissing: boolean
}

/** The entry of the field in the tables of the proxy. */
function proxyFields({
  section,
  field,
}: Pick<RunField, 'section' | 'field'>): (readonly [string, ProxyField | undefined])[] {
  const table: Readonly<Record<string, ProxyField>> = PROXY_TABLES[section]
  return (RENDERED[`${section}.${field}`] ?? [field]).map((name) => [name, table[name]])
}

/** The files of the proxy that run it or read it, and a test beside each or one that imports it. */
function missingReaders(feature: RunField): string[] {
  const entries = proxyFields(feature)
  const hasBaseName = entries.some(([, entry]) => entry?.file.endsWith(`/${feature.translator}.ts`))
  const misnamed = feature.section === 'traffic' && !hasBaseName ? [`proxy/policy/*/${feature.translator}.ts`] : []
  const missing = entries.flatMap(([name, entry]) => {
    if (entry === undefined) return [`${feature.section}.${name} in proxy/policy/fields.ts`]
    const { file } = entry
    if (!files.includes(file)) return [file]
    return feature.section === 'frontend' || isTested(file) ? [] : [`a test of ${file}`]
  })
  return [...misnamed, ...missing]
}

/** The tests of the compiler cover its readers. */
function isTested(file: string): boolean {
  if (file.startsWith('proxy/config/')) return true
  const tests = files.filter((one) => one.startsWith('proxy/') && one.endsWith('.test.ts'))
  return tests.some((one) => one === file.replace(/\.ts$/, '.test.ts') || importsOf(one).includes(file))
}

function runsSample(name: string): boolean {
  const file = `test/conformance/${name}.ts`
  return files.includes(file) && read(file).includes(`'${name}.yaml'`)
}

describe('feature completeness', () => {
  const fields = runFields()

  it('finds the fields of every section', () => {
    for (const section of ['traffic', 'frontend', 'backend'] as const) {
      expect(fields.filter((one) => one.section === section).length, `fields of ${section}`).toBeGreaterThan(0)
    }
    expect(fields.map(featureName)).toEqual(expect.arrayContaining(['csrf', 'frontend-http', 'backend-auth']))
  })

  it.each(fields.map((field) => [featureName(field), field] as const))('%s has every stage', (name, field) => {
    expect(missingStages(field), `${name} lacks`).toEqual([])
  })

  it.each(Object.entries(PROXY_TABLES))('settings of the section %s are read where the table says', (_, table) => {
    const wrong = Object.entries<ProxyField & { readonly run: string }>(table).filter(
      ([name, { run, file }]) => run === 'setting' && !new RegExp(`\\b${name}\\b`).test(read(file)),
    )
    expect(wrong).toEqual([])
  })

  it('operator and proxy agree on the fields that reject all requests if they are missing', () => {
    const differing = fields.flatMap(({ section, field }) => {
      const table: Readonly<Record<string, { readonly failureMode: string }>> = OPERATOR_TABLES[section]
      const denies = table[field]?.failureMode === 'deny'
      return proxyFields({ section, field })
        .filter(([, entry]) => entry?.denyIfMissing !== denies)
        .map(([name]) => `${section}.${field}: ${name}`)
    })
    expect(differing).toEqual([])
  })

  it('every policy page has its field, and every case its sample', () => {
    const names = new Set([...fields.map(featureName), ...FILTER_PAGES, 'README'])
    const pages = files.filter((file) => file.startsWith('docs/policies/')).map((file) => basename(file, '.md'))
    expect(pages.filter((page) => !names.has(page))).toEqual([])
    const index = read('docs/policies/README.md')
    const unlisted = fields.map(featureName).filter((page) => !index.includes(`(${page}.md)`))
    expect(unlisted, 'pages that docs/policies/README.md has no link to').toEqual([])
  })
})
