// Entry of the thread that reads the vocabularies. Started by tables.ts only.
import { parentPort } from 'node:worker_threads'
import cl100k from 'gpt-tokenizer/bpeRanks/cl100k_base'
import o200k from 'gpt-tokenizer/bpeRanks/o200k_base'
import { tokenTableOf } from './table.ts'
import type { TokenTables } from './tables.ts'

const tables: TokenTables = { cl100k_base: tokenTableOf(cl100k), o200k_base: tokenTableOf(o200k) }
parentPort?.postMessage(tables)
