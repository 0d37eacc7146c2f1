// How many requests one client may send in a minute.
import { expect, it } from 'vitest'
import { RequestAllowance } from './request-allowance.ts'

it('allows each client its number of requests in each minute', () => {
  const allowance = new RequestAllowance(2)
  const take = (address: string, seconds: number) => allowance.take(address, seconds * 1000)
  expect([take('10.0.0.1', 0), take('10.0.0.1', 1), take('10.0.0.1', 20)]).toEqual([0, 0, 40])
  expect(take('10.0.0.2', 20)).toBe(0)
  expect(take('10.0.0.1', 60)).toBe(0)
})

it('counts the addresses of an IPv6 network together', () => {
  const allowance = new RequestAllowance(1)
  expect([allowance.take('2001:db8::1', 0), allowance.take('2001:db8::2', 0)]).toEqual([0, 60])
})

it('lets further clients share an allowance if there are very many', () => {
  const allowance = new RequestAllowance(1)
  for (let i = 0; i < 10_000; i++) allowance.take(`10.0.${i >> 8}.${i & 255}`, 0)
  expect([allowance.take('11.0.0.1', 0), allowance.take('11.0.0.2', 0)]).toEqual([0, 60])
})
