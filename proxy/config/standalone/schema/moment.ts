// When the expressions of a place are evaluated, so that a file with one that reads what is not there yet is refused.
// Shapes are shared by places of several moments: the place says it, and an inner place knows better than an outer one.
import * as z from 'zod'
import type { CelMoment } from '#api/cel/variables.ts'
import { parsedAs, shapedLike } from './object.ts'

/** Of the place that is being parsed, which nothing interrupts. undefined: not known. */
let current: CelMoment | undefined = undefined

export function currentMoment(): CelMoment | undefined {
  return current
}

/** What is below `schema` is evaluated at that moment. */
export function evaluatedAt<T>(moment: CelMoment | undefined, schema: z.ZodType<T>): z.ZodType<T> {
  return evaluatedBy(() => moment, schema)
}

/** As above, where the value itself says when. */
export function evaluatedBy<T>(
  momentOf: (value: unknown) => CelMoment | undefined,
  schema: z.ZodType<T>,
): z.ZodType<T> {
  const timed = z.unknown().transform((value, context) => {
    const outer = current
    current = momentOf(value)
    try {
      return parsedAs(schema, value, context)
    } finally {
      current = outer
    }
  })
  return shapedLike(timed, [schema])
}
