// The table of data-plane supplement section 1.9.
import { expect, it } from 'vitest'
import { grpcStatusOf } from './grpc-http-status.ts'

it.each([
  [200, 0],
  [400, 13],
  [401, 16],
  [403, 7],
  [404, 12],
  [405, 2],
  [407, 16],
  [413, 2],
  [429, 14],
  [500, 2],
  [502, 14],
  [503, 14],
  [504, 14],
])('%i is %i', (http, grpc) => {
  expect(grpcStatusOf(http)).toBe(grpc)
})
