// In place of edit-thread.ts: does what the text of the edit says.
import { parentPort, workerData } from 'node:worker_threads'
import type { EditQuestion } from './edit-thread.ts'

let count = 0

parentPort?.on('message', ({ call }: EditQuestion) => {
  const text = call.kind === 'read' ? '' : call.edit.text
  if (text === 'throws') throw new Error('it threw')
  if (text === 'hangs') return
  if (text === 'count') count++
  parentPort?.postMessage(text === 'fail' ? { problem: 'it failed' } : { value: text === 'path' ? workerData : count })
})
