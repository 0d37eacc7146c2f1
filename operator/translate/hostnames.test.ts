import { describe, expect, it } from 'vitest'
import { hostnamesIntersect } from './hostnames.ts'

describe('hostnamesIntersect', () => {
  it.each([
    [undefined, 'a.example.com', true],
    ['', 'a.example.com', true],
    ['a.example.com', 'A.Example.COM', true],
    ['a.example.com', 'b.example.com', false],
    ['*.example.com', 'a.example.com', true],
    ['*.example.com', 'a.b.example.com', true],
    ['*.example.com', 'example.com', false],
    ['*.example.com', '.example.com', false],
    ['*.example.com', 'aexample.com', false],
    ['*.example.com', '*.b.example.com', true],
    ['*.example.com', '*.example.org', false],
    ['*.com', '*.example.com', true],
  ])('%s and %s: %s', (a, b, expected) => {
    expect(hostnamesIntersect(a, b)).toBe(expected)
    expect(hostnamesIntersect(b, a)).toBe(expected)
  })
})
