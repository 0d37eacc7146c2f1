// The vocabularies that a proxy counts with. The main thread has them read once, before the first configuration that
// counts tokens; all workers share their memory.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import type { EncodingName } from './encodings.ts'
import type { TokenTableData } from './table.ts'

export type TokenTables = { readonly [N in EncodingName]: TokenTableData }

const READ_MS_MAX = 30_000

const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './tables-thread.ts' : './token-tables-thread.js',
  import.meta.url,
)

/** Whether a provider of this configuration has `tokenize`. */
export function countsTokens({ backends }: Pick<RenderedConfig, 'backends'>): boolean {
  return backends.some(({ ai }) => ai?.groups.some(({ providers }) => providers.some(({ tokenize }) => tokenize)))
}

/**
 * Reads them in a thread of its own, which ends: the vocabularies as texts take many times their memory.
 *
 * @throws {Error} it failed, or took longer than 30 seconds
 */
export async function readTokenTables(entry: URL = ENTRY): Promise<TokenTables> {
  const thread = new Worker(entry, { name: 'gw-token-tables' })
  try {
    // Rejects with the error of the thread.
    const [tables] = await once(thread, 'message', { signal: AbortSignal.timeout(READ_MS_MAX) })
    // Sent by tables-thread.ts only.
    return tables as TokenTables
  } finally {
    await thread.terminate()
  }
}
