import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { untilAborted } from './until-aborted.ts'

const late = (): Error => new Error('late')
const never = (): Promise<never> => new Promise(() => undefined)

it('gives the result of the work, and leaves no listener', async () => {
  const { signal } = new AbortController()
  expect(await untilAborted(signal, () => Promise.resolve(1), late)).toBe(1)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('rejects with the failure of the work, and leaves no listener', async () => {
  const { signal } = new AbortController()
  await expect(untilAborted(signal, () => Promise.reject(new Error('work')), late)).rejects.toThrow('work')
  const broken = (): never => {
    throw new Error('at once')
  }
  await expect(untilAborted(signal, broken, late)).rejects.toThrow('at once')
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('rejects at the abort, also if the work does not end', async () => {
  const controller = new AbortController()
  const waiting = untilAborted(controller.signal, never, late)
  controller.abort()
  await expect(waiting).rejects.toThrow('late')
  await expect(untilAborted(controller.signal, never, late)).rejects.toThrow('late')
})

it('rejects with its own failure if the abort ends the work', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const aborted = (): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('work'))))
  const waiting = untilAborted(signal, aborted, late)
  controller.abort()
  await expect(waiting).rejects.toThrow('late')
})
