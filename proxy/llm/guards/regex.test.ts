// The regex guard: what each built-in pattern finds and what it leaves, masks, rejections, and bounds.
import { describe, expect, it, vi } from 'vitest'
import type { GuardBuiltin, GuardRegex } from '#api/ir/types.gen.ts'
import { verdictOn } from './guards.testing.ts'
import { regexGuard } from './regex.ts'

const MASK = { action: 'Mask' } as const

async function maskedBy(settings: GuardRegex, text: string): Promise<string> {
  const verdict = await verdictOn(regexGuard(settings, 'Request'), [text], 'Request')
  return verdict.kind === 'mask' ? (verdict.texts[0] ?? '') : text
}

describe.each<[GuardBuiltin, string, readonly string[], readonly string[]]>([
  [
    'Ssn',
    '<SSN>',
    ['078-05-1120', '078 05 1120', '078.05.1120', '078051120', '07805-1120', '078-051120'],
    ['78-05-1120', '078-05-11200', '1078-05-1120', 'x078051120', '0780511201', '078-0511-20'],
  ],
  [
    'CreditCard',
    '<CREDIT_CARD>',
    ['4111 1111 1111 1111', '5500-0000-0000-0004', '6011000990139424', '3782 822 463 10005', '1234567890123456'],
    ['2221000000000009', '5600 0000 0000 0004', '4111 1111', '41111111111111111111', '1700000000000'],
  ],
  [
    'PhoneNumber',
    '<PHONE_NUMBER>',
    [
      '(212) 555-0123',
      '212.555.0123',
      '+44 20 7946 0958',
      '+49 30 901820',
      '054-123-4567',
      '98765 43210',
      '(11) 91234-5678',
      '+33 1 42 68 53 00',
    ],
    ['1234567', '10.0.0.123', '192.168.100.200', '3.14159265358979', '1700000000000', '100 200 300', '2026'],
  ],
  [
    'Email',
    '<EMAIL_ADDRESS>',
    ['ada@example.com', 'a.b+c_d-e@mail.example.co', 'A1@x-y.io'],
    ['ada@', '@example.com', 'ada@localhost', 'ada at example.com', 'ä@.com'],
  ],
  [
    'CaSin',
    '<CA_SIN>',
    ['046 454 286', '046-454-286', '046454286'],
    ['046 454 28', '046-454-2860', '1046454286', '046.454.286'],
  ],
])('%s', (builtin, mask, found, left) => {
  const settings: GuardRegex = { ...MASK, builtins: [builtin] }

  it.each(found)('masks %s', async (text) => {
    expect(await maskedBy(settings, text)).toBe(mask)
    expect(await maskedBy(settings, `It is "${text}", thanks`)).toBe(`It is "${mask}", thanks`)
  })

  it.each(left)('does not mask %s', async (text) => {
    expect(await maskedBy(settings, `see ${text} here`)).toBe(`see ${text} here`)
  })
})

describe('masks', () => {
  it('replaces what expressions match, except empty matches', async () => {
    expect(await maskedBy({ ...MASK, patterns: ['secret-[0-9]+', 'x*'] }, 'a secret-42 b')).toBe('a <masked> b')
  })

  it('makes one mask of overlapping matches, with the text of the first', async () => {
    const settings: GuardRegex = { ...MASK, patterns: ['id 07'], builtins: ['Ssn', 'PhoneNumber'] }
    expect(await maskedBy(settings, 'my id 078-05-1120 ok')).toBe('my <masked> ok')
    expect(await maskedBy({ ...MASK, builtins: ['Ssn', 'CaSin'] }, '078051120')).toBe('<SSN>')
  })

  it('finds numbers that stand side by side', async () => {
    expect(await maskedBy({ ...MASK, builtins: ['PhoneNumber'] }, '(650) 253-0000 (212) 736-5000')).toBe(
      '<PHONE_NUMBER> <PHONE_NUMBER>',
    )
    expect(await maskedBy({ ...MASK, builtins: ['Email'] }, 'a@b.co,c@d.eu')).toBe('<EMAIL_ADDRESS>,<EMAIL_ADDRESS>')
  })

  it('keeps the number and order of texts, and names what matched', async () => {
    const guard = regexGuard({ ...MASK, patterns: ['b+'], builtins: ['Email'] }, 'Request')
    expect(await verdictOn(guard, ['a', 'bb', '', 'x@y.zz'], 'Request')).toEqual({
      kind: 'mask',
      texts: ['a', '<masked>', '', '<EMAIL_ADDRESS>'],
      matched: ['matches[0]', 'Email'],
    })
    expect(await verdictOn(guard, ['a', 'c'], 'Request')).toEqual({ kind: 'pass' })
  })
})

describe('action Reject', () => {
  const settings: GuardRegex = { action: 'Reject', builtins: ['Ssn'] }

  it('rejects requests with a match', async () => {
    const guard = regexGuard(settings, 'Request')
    expect(await verdictOn(guard, ['x', '078-05-1120'], 'Request')).toEqual({ kind: 'reject', matched: ['Ssn'] })
    expect(await verdictOn(guard, ['x'], 'Request')).toEqual({ kind: 'pass' })
  })

  it('masks responses with a match', async () => {
    const verdict = await verdictOn(regexGuard(settings, 'Response'), ['078-05-1120'], 'Response')
    expect(verdict).toMatchObject({ kind: 'mask', texts: ['<SSN>'] })
  })
})

describe('bounds', () => {
  it('fails for an invalid expression', async () => {
    const guard = regexGuard({ ...MASK, patterns: ['(x'] }, 'Request')
    await expect(verdictOn(guard, ['x'], 'Request')).rejects.toThrow('an expression of the guard is not valid')
  })

  it('fails for a text that is too long for a large expression', async () => {
    const guard = regexGuard({ ...MASK, patterns: ['(a{1000}b?){1}(c|d){900}'] }, 'Request')
    await expect(verdictOn(guard, ['x'.repeat(2 ** 20)], 'Request')).rejects.toThrow('the text is too long')
  })

  it('fails for too many matches', async () => {
    const guard = regexGuard({ ...MASK, patterns: ['x'] }, 'Request')
    await expect(verdictOn(guard, ['x'.repeat(100_001)], 'Request')).rejects.toThrow('more than 100000 matches')
  })

  it.each<[string, GuardBuiltin, string]>([
    ['letters', 'Email', 'a'.repeat(2 ** 20)],
    ['signs', 'Email', '@'.repeat(2 ** 20)],
    ['digits', 'CreditCard', '4'.repeat(2 ** 20)],
    ['digits', 'PhoneNumber', '1'.repeat(2 ** 20)],
  ])('searches a long text of %s for %s in linear time', async (_, builtin, text) => {
    const startMs = performance.now()
    await maskedBy({ ...MASK, builtins: [builtin] }, text)
    // A search from each character of the text to its end takes minutes.
    expect(performance.now() - startMs).toBeLessThan(10_000)
  })

  it('does not count the time in which others have the processor', async () => {
    let clockMs = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (clockMs += 1000))
    try {
      expect(await maskedBy({ ...MASK, builtins: ['Email'] }, 'a@b.co '.repeat(20))).toContain('<EMAIL_ADDRESS>')
      expect(clockMs).toBeGreaterThan(10_000)
    } finally {
      clock.mockRestore()
    }
  })

  it('lets other work run during a long check', async () => {
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    const numbers = Array.from({ length: 1000 }, (_, index) => `${(index * 7919) % 1000} ${index} 1234`).join('\n')
    await maskedBy({ ...MASK, builtins: ['PhoneNumber'] }, numbers)
    clearInterval(timer)
    expect(turns).toBeGreaterThan(3)
  })
})
