import { expect, it } from 'vitest'
import { type DeliveredObject, OBJECT_BYTES_MAX } from '#api/delivery/encode.ts'
import { fillOf, leftOutText, nearlyFullText } from './fill.ts'

const object = (part: DeliveredObject['part'], objects: number): DeliveredObject => ({
  kind: part === 'secrets' ? 'Secret' : 'ConfigMap',
  part,
  name: 'x',
  files: new Map([['', new Uint8Array(objects * OBJECT_BYTES_MAX)]]),
})

it('counts each part against its own objects', () => {
  const fill = fillOf([object('config', 1), object('config', 1), object('endpoints', 2), object('secrets', 6)])
  expect(fill).toEqual({ config: 0.25, endpoints: 0.25, secrets: 0.75 })
})

it.each([
  [{ config: 0.69, endpoints: 0, secrets: 0 }, undefined],
  [{ config: 0.7, endpoints: 0, secrets: 0 }, 'the routes and policies use more than 70 % of what a delivery can hold'],
  [
    { config: 0.78, endpoints: 0, secrets: 0 },
    'the routes and policies use more than 70 % of what a delivery can hold',
  ],
  [
    { config: 0, endpoints: 0.8, secrets: 1 },
    'the endpoints use more than 80 % of what a delivery can hold; the certificates, keys and passwords use more than 100 % of what a delivery can hold',
  ],
])('warns about parts that are nearly full: %j', (fill, text) => {
  const expected = text && `${text}. Move some to another Gateway before nothing more fits`
  expect(nearlyFullText(fill)).toBe(expected)
})

it('names ten Secrets that are not delivered, and counts the others', () => {
  expect(leftOutText([])).toBeUndefined()
  expect(leftOutText(['shop/a', 'shop/b'])).toMatch(
    /^the delivery has no room for the largest Secrets: shop\/a, shop\/b\. /,
  )
  expect(leftOutText(Array.from({ length: 12 }, (_, at) => `n/s${at}`))).toContain('n/s9 and 2 others. ')
})
