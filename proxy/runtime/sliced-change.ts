// A large change of the configuration on its way to a worker: its long lists follow in slices, on a port of their own.
// Reading one message of megabytes would stop the requests of the worker for as long as that takes. Items of the
// configuration travel as JSON: writing and reading it costs half of a structured clone.
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { ConfigDelta } from '#api/ir/config-delta.ts'
import { LIST_NAMES } from '#api/ir/lists.ts'
import type { Steps } from '#api/incremental/steps.ts'
import type { ConfigChange } from './messages.ts'

/** Items of one slice: about 50 KiB. */
const SLICE_ITEMS = 128
/** A change with fewer items in all its lists is one message. */
const ITEMS_MIN = 512

type Whole = Omit<ConfigChange, 'slices'>

/** The items of one slice, or their JSON, and the number of their list. */
type Slice = readonly [list: number, items: readonly unknown[] | string]

/** Writes the slices to the port that the message transfers. */
export function slicedChange(change: Whole): { readonly message: ConfigChange; readonly transfer: MessagePort[] } {
  const lists = longLists(change)
  if (lists.reduce((sum, { length }) => sum + length, 0) < ITEMS_MIN) {
    return { message: { ...change, slices: undefined }, transfer: [] }
  }
  const { port1, port2 } = new MessageChannel()
  // What follows the items of the configuration has values that JSON lacks.
  const texts = lists.length - SLOT_LISTS
  for (const [at, list] of lists.entries()) {
    for (let from = 0; from < list.length; from += SLICE_ITEMS) {
      const items = list.slice(from, from + SLICE_ITEMS)
      const slice: Slice = [at, at < texts ? JSON.stringify(items) : items]
      port1.postMessage(slice)
    }
  }
  return { message: { ...emptied(change), slices: port2 }, transfer: [port2] }
}

/** The change with all items, one step for each slice. */
export function* wholeChange(message: ConfigChange): Steps<Whole> {
  const { slices: port, ...change } = message
  if (port === undefined) return change
  const lists = longLists(change)
  // All slices were written before the message.
  for (let got = receiveMessageOnPort(port); got !== undefined; got = receiveMessageOnPort(port)) {
    // As `slicedChange` writes it.
    const [list, items] = got.message as Slice
    // Text of `slicedChange`: a list.
    lists[list]?.push(...(typeof items === 'string' ? (JSON.parse(items) as readonly unknown[]) : items))
    yield
  }
  port.close()
  return change
}

/** Places in shared memory: the last of the long lists. */
const SLOT_LISTS = 2

/** In the same order on both sides; the lists of the change itself. */
function longLists({ delta, rateLimits, endpoints }: Whole): unknown[][] {
  const steps = LIST_NAMES.flatMap((name) => delta[name] ?? [])
  const added = steps.flatMap((step) => ('items' in step ? [step.items] : []))
  // Lists of a message belong to its receiver, which fills them; the sender does not change them.
  return [...added, rateLimits.slots, endpoints.slots] as unknown[][]
}

function emptied(change: Whole): Whole {
  const { delta, rateLimits, endpoints } = change
  const lists = LIST_NAMES.flatMap((name) => {
    const steps = delta[name]?.map((step) => ('items' in step ? { items: [] } : step))
    return steps === undefined ? [] : [[name, steps]]
  })
  return {
    ...change,
    // The same lists of steps.
    delta: { ...delta, ...(Object.fromEntries(lists) as ConfigDelta) },
    rateLimits: { ...rateLimits, slots: [] },
    endpoints: { ...endpoints, slots: [] },
  }
}
