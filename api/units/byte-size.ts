// Sizes in bytes as the API writes them: a number, or a Kubernetes quantity such as 2Mi or 16k.

const BYTE_SIZE_MIN = 1
export const BYTE_SIZE_MAX = 4_294_967_295

/** The specification's limit on the text of a size. */
const TEXT_LENGTH_MAX = 32

/** Powers of ten beyond these change nothing: the result is at the limit, or a fraction of one byte. */
const EXPONENT_MAX = 64

const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/

const BINARY_SUFFIXES = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const

const DECIMAL_EXPONENTS: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])

/** `isClamped`: the text asks for more than BYTE_SIZE_MAX. */
export type ByteSizeOutcome = { readonly bytes: number; readonly isClamped: boolean } | { readonly problem: string }

/** Fractions of a byte round up, as quantities do; more than BYTE_SIZE_MAX means BYTE_SIZE_MAX. */
export function parseByteSize(value: string | number): ByteSizeOutcome {
  const bytes = typeof value === 'number' ? wholeNumber(value) : quantity(value)
  if (bytes === undefined)
    return { problem: 'is not a size: write a number of bytes, or a quantity such as 16Ki or 2M' }
  if (bytes < BigInt(BYTE_SIZE_MIN)) return { problem: `is too small: at least ${BYTE_SIZE_MIN} byte` }
  const isClamped = bytes > BigInt(BYTE_SIZE_MAX)
  return { bytes: isClamped ? BYTE_SIZE_MAX : Number(bytes), isClamped }
}

/** The number of bytes with the largest binary suffix that divides it. */
export function formatByteSize(bytes: number): string {
  let count = bytes
  let suffix = ''
  for (const next of BINARY_SUFFIXES) {
    if (count === 0 || count % 1024 !== 0) break
    count /= 1024
    suffix = next
  }
  return `${count}${suffix}`
}

function wholeNumber(value: number): bigint | undefined {
  return Number.isInteger(value) ? BigInt(value) : undefined
}

function quantity(text: string): bigint | undefined {
  const match = text.length > TEXT_LENGTH_MAX ? null : QUANTITY.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', suffix = ''] = match
  if (whole === '' && fraction === '') return undefined
  const digits = BigInt(whole + fraction)
  const binary = BINARY_SUFFIXES.findIndex((candidate) => candidate === suffix)
  const exponent = (binary < 0 ? decimalExponent(suffix) : 0) - fraction.length
  const scaled = binary < 0 ? digits : digits * 1024n ** BigInt(binary + 1)
  const bytes = exponent >= 0 ? scaled * 10n ** BigInt(exponent) : ceilDivide(scaled, 10n ** BigInt(-exponent))
  return sign === '-' ? -bytes : bytes
}

function decimalExponent(suffix: string): number {
  if (suffix === '') return 0
  const exponent = DECIMAL_EXPONENTS.get(suffix) ?? Number(suffix.slice(1))
  return Math.max(-EXPONENT_MAX, Math.min(EXPONENT_MAX, exponent))
}

function ceilDivide(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}
