// Runs testdata/<theme>/<case>.in.yaml. Inputs pass the schema first; outputs must fit the contract of the proxy.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { validateConfig, validateSecrets } from '#api/ir/validate.ts'
import { isRecord } from '#api/json.ts'
import { applyDefaults, isKnownKind, validateObject } from '#api/validate/validate.ts'
import { compareGolden, goldenFolder, readGolden, removeOrphans } from '#test/golden.ts'
import { fillPem, maskPem } from '#test/pem-placeholders.ts'
import type { Condition } from './object-status.ts'
import type { KubeObject } from './kube.ts'
import { describe as describeObject, refOf } from './object-ref.ts'
import { snapshotOf } from './snapshot.ts'
import { translate } from './cluster/translate.ts'
import { GOLDEN_OPTIONS } from './golden-options.testing.ts'
import type { BackendRefGrantMode, HostBinding, RenderedGateway, Translation } from './translation.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), 'testdata')
const DEFAULTS = join(ROOT, '_defaults.yaml')

const folder = goldenFolder(ROOT)

describe('goldens', () => {
  it('has no output without an input', () => {
    expect(removeOrphans(ROOT, folder)).toEqual([])
  })

  it.each(folder.cases.map((golden) => [golden.name, golden] as const))('%s', (_, golden) => {
    const { options, documents: written } = readGolden(golden.inputPath, GOLDEN_OPTIONS)
    const documents = fillPem(written)
    if (options.get('schema') !== 'older') expect(documents.flatMap(schemaProblems)).toEqual([])
    // What the schema accepted above has a kind and a name; snapshotOf drops anything else.
    const objects = withDefaults(documents as KubeObject[], options.get('defaults') !== 'none')
    const snapshot = snapshotOf(objects.map((object) => applyDefaults(object)))
    const translation = translate(snapshot, {
      controllerName: 'gw.dev/controller',
      className: options.get('className') ?? 'gw',
      clusterDomain: options.get('clusterDomain') ?? 'cluster.local',
      controllerNamespace: options.get('controllerNamespace') ?? 'gw-system',
      backendRefGrantMode: grantMode(options.get('backendRefGrantMode')),
      hostBindings: hostBindings(options.get('hostBindings')),
      areModelsEnabled: options.get('models') !== 'off',
      areInferencePoolsEnabled: options.get('pools') !== 'off',
    })
    expect([...translation.perGateway.values()].flatMap(contractProblems)).toEqual([])
    const hasClass = objects.some(({ kind }, index) => kind === 'GatewayClass' && documents.includes(objects[index]))
    const { expected, actual } = compareGolden(golden, maskPem(outputOf(translation, hasClass)))
    expect(actual).toBe(expected)
  })
})

/** `host=namespace`, divided by commas. */
function hostBindings(text = ''): HostBinding[] {
  const entries = text.split(',').filter((one) => one !== '')
  return entries.map((one) => ({ host: one.split('=')[0] ?? '', namespaces: [one.split('=')[1] ?? ''] }))
}

function grantMode(text: string | undefined): BackendRefGrantMode {
  if (text === undefined || text === 'route-and-policy') return 'route-and-policy'
  if (text === 'none' || text === 'route') return text
  throw new Error(`unknown backendRefGrantMode ${text}`)
}

function schemaProblems(document: unknown): string[] {
  return isKnownKind(document)
    ? validateObject(document).problems.map(({ path, message }) => `${path}: ${message}`)
    : []
}

function contractProblems({ config, secrets }: RenderedGateway): string[] {
  return [...validateConfig(config), ...validateSecrets(secrets)].map(({ path, message }) => `${path}: ${message}`)
}

/** A case replaces a default object by one of the same kind and name. */
function withDefaults(objects: KubeObject[], isWanted: boolean): KubeObject[] {
  if (!isWanted) return objects
  const own = new Set(objects.map((object) => describeObject(refOf(object))))
  // Written by hand beside the cases.
  const defaults = readGolden(DEFAULTS).documents as KubeObject[]
  return [...defaults.filter((object) => !own.has(describeObject(refOf(object)))), ...objects]
}

/** Conditions on one line each; what only hides what a case shows (empty lists, the default class) is left out. */
function outputOf({ perGateway, statuses, problems }: Translation, hasClass: boolean): unknown {
  return {
    gateways: Object.fromEntries([...perGateway].map(([key, rendered]) => [key, renderedOutput(rendered)])),
    statuses: statuses
      .filter(({ kind }) => hasClass || kind !== 'GatewayClass')
      .map(({ kind, namespace, name, status }) => ({ object: `${kind} ${namespace}/${name}`, ...shortened(status) })),
    problems: problems.map(
      ({ object, path, reason, severity }) => `${severity} ${describeObject(object)} ${path}: ${reason}`,
    ),
  }
}

/** A copy in which every list of conditions is a list of lines. */
function shortened(value: object): object {
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shortenedPart(name, part)]))
}

function shortenedPart(name: string, part: unknown): unknown {
  if (name === 'conditions' && Array.isArray(part)) return part.map(conditionLine)
  if (Array.isArray(part)) return part.map((item: unknown) => (isRecord(item) ? shortened(item) : item))
  return isRecord(part) ? shortened(part) : part
}

function conditionLine({ type, status, reason, message, observedGeneration }: Condition): string {
  return `${type}=${status} ${reason} (generation ${observedGeneration ?? 'none'}): ${message}`
}

function renderedOutput({ config, secrets }: RenderedGateway): unknown {
  const filled = Object.entries(config).filter(([, value]) => !Array.isArray(value) || value.length > 0)
  return {
    ...Object.fromEntries(filled.filter(([name]) => name !== 'version')),
    ...(secrets.secrets.length > 0 && { secrets: secrets.secrets }),
  }
}
