// A shape that several policies share: the plain policy, or a list of it with a condition next to the fields of each.
import * as z from 'zod'
import { fields, isMap, oneShape } from './object.ts'
import { cel } from './values.ts'

/** `{conditional: [{condition, …fields}]}`: the first entry whose condition is true applies. */
export function conditionalList<T extends z.core.$ZodLooseShape>(shape: T) {
  return fields({ conditional: z.array(fields({ condition: cel.optional(), ...shape })).min(1) })
}

/** A policy of these fields, or a list of them. */
export function orConditional<T extends z.core.$ZodLooseShape>(shape: T) {
  const plain = fields(shape)
  const conditional = conditionalList(shape)
  return oneShape<z.output<typeof plain> | z.output<typeof conditional>>(
    (value) => (isMap(value) && 'conditional' in value ? conditional : plain),
    [conditional, plain],
  )
}
