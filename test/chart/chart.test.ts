// Goldens of the charts: the defaults, and the changes of each set of values; and values that their schema rejects.
// test/e2e/00-chart.test.ts compares the charts with the kustomizations.
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { compareGolden, goldenFolder } from '../golden.ts'
import { firstOf } from '../run/table.ts'
import { findHelm, type Manifest, refusal, render } from './helm.ts'

const FOLDER = join(import.meta.dirname, 'testdata')
const ROOT = join(import.meta.dirname, '../..')
const RENDER_MS = 60_000

const helm = findHelm() ?? ''
if (helm === '') console.log('skipped: no helm (hack/helm.sh builds one, GW_HELM names one)')

const { cases, orphans } = goldenFolder(FOLDER)
const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`

/** Rules of roles and the dashboard are separate files. */
function short(one: Manifest): unknown {
  const { rules, data, ...rest } = one as Manifest & { rules?: unknown[]; data?: Record<string, string> }
  return {
    ...rest,
    ...(rules !== undefined && { rules: `${rules.length} rules` }),
    ...(data !== undefined && { data: 'gw-proxy.json' in data ? Object.keys(data) : data }),
  }
}

function documentsOf(chart: string, ...more: readonly string[]): Map<string, unknown> {
  return new Map(render(helm, chart, ...more).map((one) => [nameOf(one), short(one)]))
}

describe.skipIf(helm === '')('charts', () => {
  // The body also runs if the suite is skipped.
  const charts = helm === '' ? [] : ['gw', 'gw-standalone']
  const defaults = new Map(charts.map((chart) => [chart, documentsOf(chart)]))

  it('have goldens without orphans', () => {
    expect(orphans).toEqual([])
    expect(cases.length).toBeGreaterThan(25)
  })

  it.each(cases)('$name', { timeout: RENDER_MS }, (golden) => {
    const [chart = '', name] = golden.name.split('/')
    const known = defaults.get(chart) ?? new Map<string, unknown>()
    const shown = documentsOf(chart, '-f', golden.inputPath)
    const changed = [...shown].filter(([key, one]) => name === 'default' || !isDeepStrictEqual(known.get(key), one))
    const without = [...known.keys()].filter((key) => !shown.has(key))
    const documents = changed.map(([, one]) => one)
    const { expected, actual } = compareGolden(golden, without.length === 0 ? { documents } : { documents, without })
    expect(actual).toBe(expected)
  })

  it.each(['gw', 'gw-standalone', 'gw-crds'])('%s renders without options and without warnings', (chart) => {
    // A helm that hack/helm.sh did not build has the version of its installation.
    const { status, stderr } = spawnSync(helm, ['template', 'gw', join(ROOT, 'config/helm', chart)], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
    expect([status, stderr]).toEqual([0, ''])
  })

  it('install the CRDs on request, and keep them when the release is deleted', { timeout: RENDER_MS }, () => {
    const crds = (...values: string[]): Manifest[] =>
      render(helm, 'gw', ...values.flatMap((value) => ['--set', value])).filter(
        ({ kind }) => kind === 'CustomResourceDefinition',
      )
    expect(crds()).toEqual([])
    const kept = crds('crds.enabled=true')
    expect(kept.map(({ metadata }) => metadata.name)).toContain('gwpolicies.gw.dev')
    expect(JSON.stringify(kept)).toContain('resource-policy')
    expect(JSON.stringify(crds('crds.enabled=true', 'gw-crds.keep=false'))).not.toContain('resource-policy')
  })

  firstOf(8)<[string, string, string, RegExp]>([
    [
      'a number that is invalid',
      'gw',
      'controller.replicaCount=two',
      /\/controller\/replicaCount': got string, want integer/,
    ],
    ['a name that is invalid', 'gw', 'controler.replicaCount=2', /additional properties 'controler' not allowed/],
    ['a level that is unknown', 'gw', 'controller.logLevel=loud', /logLevel': value must be one of 'error', 'warn'/],
    [
      'a setting that is unknown',
      'gw',
      'controller.settings.grantMode=none',
      /settings': additional properties 'grantMode'/,
    ],
    ['a port out of range', 'gw', 'controller.settings.noListenersDummyPort=65536', /maximum: got 65,536, want 65,535/],
    ['a namespace in capitals', 'gw', 'watchNamespaces={Shop}', /watchNamespaces\/0': 'Shop' does not match pattern/],
    [
      'a selector with a slip',
      'gw',
      'discoveryNamespaceSelectors[0].matchLabel.a=b',
      /additional properties 'matchLabel'/,
    ],
    ['a reference without place', 'gw', 'gatewayClassParametersRefs.gw.name=x', /missing property 'namespace'/],
    [
      'a mode of parameters',
      'gw',
      'gatewayRestrictions.parameters=Deny',
      /parameters': value must be one of '', 'Allow'/,
    ],
    ['a list in a text', 'gw', 'gatewayRestrictions.allowedFields[0]=a\\,b', /'a,b' does not match pattern/],
    ['a flag that is invalid', 'gw', 'gwModels.enabled=maybe', /gwModels\/enabled': got string, want boolean/],
    [
      'two ways for one variable',
      'gw',
      'controller.extraEnv.A.value=x,controller.extraEnv.A.valueFrom.y=z',
      /maxProperties/,
    ],
    [
      'a quantity that is invalid',
      'gw',
      'resources.limits.memory=lots',
      /resources\/limits\/memory': 'lots' does not match/,
    ],
    ['a slip in resources', 'gw', 'resources.limts.memory=1Gi', /resources': additional properties 'limts'/],
    ['a name in capitals', 'gw', 'nameOverride=Edge', /nameOverride': 'Edge' does not match pattern/],
    ['a full name with a dash at its end', 'gw', 'fullnameOverride=edge-', /fullnameOverride': 'edge-' does not match/],
    ['an account in capitals', 'gw', 'serviceAccount.name=Edge', /serviceAccount\/name': 'Edge' does not match/],
    ['an image without a name', 'gw', 'controller.image.repository=', /image\/repository': minLength: got 0, want 1/],
    ['a label with a space', 'gw', 'podLabels.a=b c', /podLabels\/a': 'b c' does not match pattern/],
    ['a slip in the budget', 'gw', 'controller.podDisruptionBudget.max=1', /Budget': additional properties 'max'/],
    ['a binding without a namespace', 'gw', 'controller.settings.hostBindings=x', /hostBindings': 'x' does not match/],
    ['a label of the selector', 'gw', 'podLabels.app\\.kubernetes\\.io/name=x', /podLabels: the chart sets the label/],
    ['a label of the chart', 'gw', 'commonLabels.helm\\.sh/chart=x', /commonLabels: the chart sets the label helm.sh/],
    [
      'two writers',
      'gw',
      'controller.settings.disableLeaderElection=true,controller.replicaCount=2',
      /disableLeaderElection: several replicas would write at the same time: set controller.replicaCount to 1/,
    ],
    ['a slip in resources', 'gw-standalone', 'resources.limit.memory=1Gi', /resources': additional properties 'limit'/],
    ['a label of the selector', 'gw-standalone', 'podLabels.app\\.kubernetes\\.io/name=x', /podLabels: the chart sets/],
    ['a type of Service', 'gw-standalone', 'service.type=External', /service\/type': value must be one of/],
    ['too little time to end', 'gw-standalone', 'terminationGracePeriodSeconds=5', /minimum: got 5, want 10/],
    ['a word for a flag', 'gw-crds', 'keep=sometimes', /keep': got string, want boolean/],
  ])(
    'reject %s',
    (_, chart, value, message) => {
      expect(refusal(helm, chart, '--set', value)).toMatch(message)
    },
    RENDER_MS,
  )
})

describe.skipIf(helm === '')('values that are as Kubernetes writes them', () => {
  it.each([
    'resources.limits.memory=1.5Gi',
    'resources.limits.cpu=2',
    'resources.requests.cpu=1e-1',
    'resources.limits=null',
    'podLabels.example\\.com/team=Edge_1',
    'podLabels.empty=',
    'controller.podDisruptionBudget.minAvailable=50%',
    'controller.podDisruptionBudget=null',
    'controller.settings.hostBindings=*.team-a.example.com=team-a\\, shop.example.com=shop',
    'controller.settings.disableLeaderElection=true',
  ])('%s is accepted', { timeout: RENDER_MS }, (value) => {
    expect(refusal(helm, 'gw', '--set', value)).toBe('')
  })
})

describe.skipIf(helm === '')('a chart that is not complete', () => {
  it.each([
    ['gw-crds', 'files', /files\/crd of the chart is empty: run `make charts`/],
    ['gw', 'charts', /missing in charts\/ directory: gw-crds/],
  ])('%s without %s is rejected', { timeout: RENDER_MS }, (chart, folder, message) => {
    const copy = mkdtempSync(join(tmpdir(), 'gw-chart-'))
    cpSync(join(ROOT, 'config/helm', chart), copy, { recursive: true })
    rmSync(join(copy, folder), { recursive: true })
    const { status, stderr } = spawnSync(helm, ['template', 'gw', copy], { encoding: 'utf8' })
    rmSync(copy, { recursive: true })
    expect(status).toBe(1)
    expect(stderr).toMatch(message)
  })
})

it('charts contain no links', () => {
  const links = globSync('**', { cwd: join(ROOT, 'config/helm'), withFileTypes: true }).filter((entry) =>
    entry.isSymbolicLink(),
  )
  expect(links.map(({ name }) => name)).toEqual([])
})

describe('values of the chart', () => {
  it('set every setting of the controller', () => {
    const source = readFileSync(join(ROOT, 'operator/controllers/settings.ts'), 'utf8')
    const read = [...source.matchAll(/reader\.\w+\('([A-Z0-9_]+)'/g)].map(([, name = '']) => name)
    const schema = JSON.parse(readFileSync(join(ROOT, 'config/helm/gw/values.schema.json'), 'utf8'))
    const settings = Object.keys(schema.properties.controller.properties.settings.properties)
    const helpers = readFileSync(join(ROOT, 'config/helm/gw/templates/_helpers.tpl'), 'utf8')
    const named = [...helpers.matchAll(/GW_([A-Z0-9_]+)/g)].map(([, name = '']) => name)
    const reached = [...settings.map((name) => name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()), ...named]
    // The ports of pod and Service fix its addresses.
    const fixed = new Set(['HEALTH_ADDR', 'METRICS_ADDR', 'ADMIN_ADDR'])
    expect([...new Set(reached)].filter((name) => name !== '').sort()).toEqual(
      [...new Set(read)].filter((name) => !fixed.has(name)).sort(),
    )
  })

  it.each(['gw', 'gw-standalone', 'gw-crds'])('of %s have a schema for each of them', (chart) => {
    const folder = join(ROOT, 'config/helm', chart)
    const values = parse(readFileSync(join(folder, 'values.yaml'), 'utf8'))
    const { properties } = JSON.parse(readFileSync(join(folder, 'values.schema.json'), 'utf8'))
    expect(Object.keys(values).filter((name) => !(name in properties))).toEqual([])
  })
})
