// When the expressions of a place are evaluated: a file with an expression that reads a value too early is rejected.
// Places of several moments share shapes: the place sets the moment, and an inner place overrides an outer one.
import * as z from 'zod'
import type { CelMoment } from '#api/cel/variables.ts'
import { parsedAs, shapedLike } from './object.ts'

/** Of the place that is being parsed; parsing is synchronous. undefined: unknown. */
let current: CelMoment | undefined = undefined

export function currentMoment(): CelMoment | undefined {
  return current
}

/** Expressions below `schema` are evaluated at that moment. */
export function evaluatedAt<T>(moment: CelMoment | undefined, schema: z.ZodType<T>): z.ZodType<T> {
  return evaluatedBy(() => moment, schema)
}

/** As above, if the value itself determines the moment. */
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
