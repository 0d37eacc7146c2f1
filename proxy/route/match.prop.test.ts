// Query parameters read as the platform's own parser reads them, however they are encoded.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { lastQueryValue } from './match.ts'

const piece = fc.constantFrom('a', 'b', '=', '%', '%61', '%C3%A9', '%FF', '+', '%2', 'é', '%26', '?', '%00')
const text = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''))
const query = fc.array(text, { maxLength: 5 }).map((pairs) => pairs.join('&'))
const name = fc.constantFrom('a', 'b', 'ab', 'é', 'a b', '%', '%61', '+', '%2')

it('finds the last value of a parameter', () => {
  fc.assert(
    fc.property(query, name, (given, wanted) => {
      expect(lastQueryValue(given, wanted)).toBe(new URLSearchParams(`&${given}`).getAll(wanted).at(-1))
    }),
    { numRuns: 5000 },
  )
})
