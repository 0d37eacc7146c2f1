// All built-in functions in one table.
import { functionTable } from '../engine/function-table.ts'
import { CONVERSION_FUNCTIONS } from './conversions.ts'
import { ENCODING_FUNCTIONS } from './encoding.ts'
import { FORMAT_FUNCTIONS } from './format.ts'
import { HOST_FUNCTIONS } from './host.ts'
import { MATH_FUNCTIONS } from './math.ts'
import { NETWORK_FUNCTIONS } from './network.ts'
import { REGEX_FUNCTIONS } from './regex.ts'
import { STRING_FUNCTIONS } from './strings.ts'
import { TIME_FUNCTIONS } from './time.ts'

export const BUILT_IN_FUNCTIONS = functionTable(
  CONVERSION_FUNCTIONS,
  STRING_FUNCTIONS,
  REGEX_FUNCTIONS,
  MATH_FUNCTIONS,
  TIME_FUNCTIONS,
  ENCODING_FUNCTIONS,
  NETWORK_FUNCTIONS,
  FORMAT_FUNCTIONS,
  HOST_FUNCTIONS,
)
