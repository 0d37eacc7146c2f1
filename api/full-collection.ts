// A full garbage collection on request, for threads that know when no work waits for them.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * `regular`: as V8 does it by itself. `last-resort`: everything that can be given back is, code that did not run lately
 * included; it takes several times as long.
 */
export type CollectionFlavor = 'regular' | 'last-resort'

/** The collector of this thread. Nothing else runs in the thread while it works. */
export function fullCollection(flavor: CollectionFlavor): () => void {
  setFlagsFromString('--expose-gc')
  // A new context has what the flag exposes.
  const collect = runInNewContext('gc') as NodeJS.GCFunction
  // Code that is cached counts for one set of flags only: they must be those of the start again.
  setFlagsFromString('--no-expose-gc')
  return () => collect({ type: 'major', execution: 'sync', flavor })
}
