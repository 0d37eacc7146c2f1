// Translates the manifests of a path repeatedly. Equal objects keep their identity, so a small change costs little.
// Loaded only by commands that translate.
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '#operator/translate/kube.ts'
import { groupOf, keyOf } from '#operator/translate/object-ref.ts'
import { createSnapshotter, type Snapshot } from '#operator/translate/snapshot.ts'
import type { Translation, TranslateSettings } from '#operator/translate/translation.ts'
import { createTranslator } from '#operator/translate/cluster/translator.ts'

export interface TranslatedManifests {
  readonly snapshot: Snapshot
  readonly translation: Translation
}

export type ManifestTranslator = (objects: readonly KubeObject[]) => TranslatedManifests

export function manifestTranslator(settings: TranslateSettings): ManifestTranslator {
  const snapshotOf = createSnapshotter()
  const translator = createTranslator(settings)
  let known: ReadonlyMap<string, KubeObject> = new Map()
  return (objects) => {
    const kept = objects.map((object) => {
      const before = known.get(identityOf(object))
      return before !== undefined && isDeepStrictEqual(before, object) ? before : object
    })
    known = new Map(kept.map((object) => [identityOf(object), object]))
    const snapshot = snapshotOf(kept)
    return { snapshot, translation: translator.translate(snapshot) }
  }
}

function identityOf(object: KubeObject): string {
  return `${groupOf(object.apiVersion)}/${object.kind}/${keyOf(object)}`
}
