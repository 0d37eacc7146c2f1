// The goldens of operator and deployer, in which fields have an effect: each with a function that renders its current
// documents. Writes nothing.
import { join } from 'node:path'
import { applyDefaults } from '#api/validate/validate.ts'
import type { KubeObject } from '#operator/translate/kube.ts'
import { snapshotOf } from '#operator/translate/snapshot.ts'
import { translate } from '#operator/translate/cluster/translate.ts'
import { goldenFolder, readGolden } from '../golden.ts'
import { fillPem } from '../pem-placeholders.ts'
import { testDeployment, TEST_OPTIONS } from '../../deployer/input.testing.ts'
import { GOLDEN_OPTIONS } from '../../operator/translate/golden-options.testing.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const OPERATOR = join(ROOT, 'operator', 'translate', 'testdata')
const DEPLOYER = join(ROOT, 'deployer', 'testdata')

export interface ActingGolden {
  /** The documents of the golden; the next `rendered` uses changes of them. */
  readonly documents: readonly unknown[]
  /** undefined: invalid documents; the schema would have rejected them. */
  readonly rendered: () => string | undefined
}

/** `withStatuses`: an effect that only statuses show counts too. */
export function* operatorWorlds(withStatuses: boolean): Generator<ActingGolden> {
  const defaults = readGolden(join(OPERATOR, '_defaults.yaml')).documents as KubeObject[] // by hand, as the goldens
  for (const { inputPath } of goldenFolder(OPERATOR).cases) {
    const { options, documents } = readGolden(inputPath, GOLDEN_OPTIONS)
    const own = fillPem(documents) as KubeObject[] // the test of the goldens checks them
    const all = options.get('defaults') === 'none' ? own : [...without(defaults, own), ...own]
    yield { documents: own, rendered: () => attempt(() => translated(all, withStatuses)) }
  }
}

export function* deployerWorlds(): Generator<ActingGolden> {
  for (const { inputPath } of goldenFolder(DEPLOYER).cases) {
    const { options, documents } = readGolden(inputPath, TEST_OPTIONS)
    yield { documents, rendered: () => attempt(() => JSON.stringify(testDeployment(documents, options))) }
  }
}

function translated(objects: readonly KubeObject[], withStatuses: boolean): string {
  const snapshot = snapshotOf(objects.map((object) => applyDefaults(structuredClone(object))))
  const { perGateway, problems, statuses } = translate(snapshot, {
    controllerName: 'gw.dev/controller',
    className: 'gw',
    clusterDomain: 'cluster.local',
    controllerNamespace: 'gw-system',
    backendRefGrantMode: 'route',
    areModelsEnabled: true,
  })
  return JSON.stringify([[...perGateway], problems, withStatuses ? statuses : []])
}

function attempt(work: () => string): string | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function without(defaults: readonly KubeObject[], own: readonly KubeObject[]): KubeObject[] {
  const names = new Set(own.map(nameOf))
  return defaults.filter((object) => !names.has(nameOf(object)))
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`
}
