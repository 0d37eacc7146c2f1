// Counters with the vocabularies of this thread, for tests; not used by the proxy.
import cl100k from 'gpt-tokenizer/bpeRanks/cl100k_base'
import o200k from 'gpt-tokenizer/bpeRanks/o200k_base'
import { TokenCounter } from './count.ts'
import type { EncodingName } from './encodings.ts'
import { tokenTableOf } from './table.ts'

export const COUNTERS: { readonly [N in EncodingName]: TokenCounter } = {
  cl100k_base: new TokenCounter('cl100k_base', tokenTableOf(cl100k)),
  o200k_base: new TokenCounter('o200k_base', tokenTableOf(o200k)),
}

export const NEVER = new AbortController().signal
