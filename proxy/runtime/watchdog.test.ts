import { expect, it } from 'vitest'
import { Watchdog } from './watchdog.ts'

const watchdog = () => new Watchdog({ hangMs: 1000, intervalMs: 250 })
const key = {}
/** How long the thread has stood still, by the watchdog. */
const look = (dog: Watchdog, nowMs: number, beats: number): number | undefined =>
  dog.look(nowMs, [{ key, beats }])[0]?.stillMs

it('names a thread that stands still for the time, not one that turns', () => {
  const dog = watchdog()
  for (let nowMs = 0; nowMs <= 5000; nowMs += 250) expect(look(dog, nowMs, nowMs)).toBeUndefined()
  for (let nowMs = 5250; nowMs < 6000; nowMs += 250) expect(look(dog, nowMs, 5000)).toBeUndefined()
  expect(look(dog, 6000, 5000)).toBe(1000)
  expect(look(dog, 6250, 5000)).toBe(1250)
  expect(look(dog, 6500, 5001)).toBeUndefined()
})

it('counts again after its own check was late: all threads stood still then', () => {
  const dog = watchdog()
  look(dog, 0, 1)
  expect(look(dog, 60_000, 1)).toBeUndefined()
  for (let nowMs = 60_250; nowMs < 61_000; nowMs += 250) expect(look(dog, nowMs, 1)).toBeUndefined()
  expect(look(dog, 61_000, 1)).toBe(1000)
})

it('knows a new thread from the one that had its place', () => {
  const dog = watchdog()
  for (let nowMs = 0; nowMs <= 1000; nowMs += 250) look(dog, nowMs, 7)
  expect(dog.look(1250, [{ key: {}, beats: 7 }])).toEqual([])
})
