// For tests that compare the translations of a cluster that changes with fresh ones.
import type { KubeObject } from '../kube.ts'
import { createSnapshotter, snapshotOf } from '../snapshot.ts'
import type { TranslateSettings, Translation } from '../translation.ts'
import { translate } from './translate.ts'
import { createTranslator } from './translator.ts'

export const SETTINGS: TranslateSettings = {
  controllerName: 'gw.dev/controller',
  className: 'gw',
  clusterDomain: 'cluster.local',
  controllerNamespace: 'a',
  areEndpointsComplete: true,
}

export function plain({ perGateway, statuses, problems }: Translation): unknown {
  return { perGateway: [...perGateway], statuses, problems }
}

export function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`
}

/** Kind by kind, as the operator passes them. */
export function listsOf(objects: readonly KubeObject[]): Iterable<readonly KubeObject[]> {
  return Map.groupBy(objects, ({ kind }) => kind).values()
}

/** The results of one translator that gets all versions of the cluster, and those of a fresh one for each. */
export function bothResults(
  steps: readonly (readonly KubeObject[])[],
  settings: TranslateSettings = SETTINGS,
): { readonly carriedOn: readonly unknown[]; readonly fresh: readonly unknown[] } {
  const [snapshots, translator] = [createSnapshotter(), createTranslator(settings)]
  return {
    carriedOn: steps.map((objects) => plain(translator.translate(snapshots(...listsOf(objects))))),
    fresh: steps.map((objects) => plain(translate(snapshotOf(objects), settings))),
  }
}
