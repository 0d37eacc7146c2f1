// A controller that starts again renders the same bytes, whatever happened before: it has nothing to write, and proxies
// load nothing again.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChunkEncoder } from '#api/delivery/encode-chunks.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { runs } from '#test/run/runs.ts'
import { createTranslator } from '../translate/cluster/translator.ts'
import { listsOf, SETTINGS } from '../translate/cluster/translations.testing.ts'
import type { KubeObject } from '../translate/kube.ts'
import { reachHistories } from '../translate/reach-histories.testing.ts'
import { createSnapshotter } from '../translate/snapshot.ts'
import type { RenderedGateway } from '../translate/translation.ts'
import { MemoryObjects } from './memory-objects.testing.ts'
import { DeliveryPlanner } from './plan-delivery.ts'

/** The objects of each Gateway, in a cluster that outlives controllers. */
type Stored = Map<string, MemoryObjects>

class Controller {
  readonly #snapshots = createSnapshotter()
  readonly #translator = createTranslator(SETTINGS)
  readonly #writers = new Map<string, { readonly encoder: ChunkEncoder; readonly planner: DeliveryPlanner }>()

  /** Keys of the objects that it wrote. */
  reconcile(objects: readonly KubeObject[], stored: Stored): string[] {
    const { perGateway } = this.#translator.translate(this.#snapshots(...listsOf(objects)))
    return [...perGateway].flatMap(([key, rendered]) => this.#write(key, rendered, stored))
  }

  #write(key: string, { config, secrets }: RenderedGateway, stored: Stored): string[] {
    const { encoder, planner } = this.#writers.get(key) ?? {
      encoder: new ChunkEncoder(),
      planner: new DeliveryPlanner(),
    }
    this.#writers.set(key, { encoder, planner })
    const held = stored.get(key) ?? new MemoryObjects()
    stored.set(key, held)
    // The fields of an object that a delivery reads.
    const gateway = { metadata: { name: key.slice(2), uid: key, generation: 1 } } as unknown as Gateway
    const encoded = encoder.encode({ config, secrets, salt: 'salt' })
    const plan = planner.plan({ held, generation: 0, gateway, pods: 1, encoded })
    if (plan.problem !== undefined) throw new Error(plan.problem.message)
    const writes = [...plan.before, ...plan.after]
    for (const object of writes) held.write(object)
    return writes.map(({ kind, name }) => `${kind}/${name}`)
  }
}

function expectNothingToWrite(steps: readonly (readonly KubeObject[])[]): void {
  const [controller, stored]: [Controller, Stored] = [new Controller(), new Map()]
  for (const objects of steps) {
    controller.reconcile(objects, stored)
    expect(new Controller().reconcile(objects.toReversed(), stored)).toEqual([])
  }
}

describe('a controller that starts again', () => {
  it('writes nothing, whatever referred to what before', () => {
    fc.assert(fc.property(reachHistories({ stepsMax: 12, filling: 0 }), expectNothingToWrite), { numRuns: runs(100) })
  })

  it('writes nothing where many routes moved', { tags: ['full'] }, () => {
    fc.assert(fc.property(reachHistories({ stepsMax: 6, filling: 600 }), expectNothingToWrite), {
      numRuns: runs(12, 4),
    })
  })
})
