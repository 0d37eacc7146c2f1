// @module-tag full
import { expect, it } from 'vitest'
import { LARGE, measureLargeDelivery } from './large-delivery.ts'

it('delivers 20,000 Services with 5 endpoints each, 2,000 certificates and a list of users of 900 KB', () => {
  const rows = measureLargeDelivery(LARGE)
  const { fill } = rows['all of it']
  // No warning yet.
  for (const share of Object.values(fill)) expect(share).toBeLessThan(0.7)
  expect(rows['a changed endpoint']).toMatchObject({ objects: 1 })
  // One Secret, and the index.
  expect(rows['a changed certificate']).toMatchObject({ objects: 2 })
}, 120_000)
