// Conditions on the header fields of requests, of routes and of models.
import * as z from 'zod'
import { fields, oneShape } from './object.ts'
import { headerName, stringMatch } from './values.ts'

const pseudoHeader = z.enum([':method', ':path', ':scheme', ':authority'])
const matchedHeader = oneShape<string>(
  (value) => (typeof value === 'string' && value.startsWith(':') ? pseudoHeader : headerName),
  [pseudoHeader, headerName],
)

export const headerMatch = fields({ name: matchedHeader, value: stringMatch })
export type HeaderMatchFields = z.output<typeof headerMatch>
