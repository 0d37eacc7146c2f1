// The report about tests that passed on retry, at the end of a run.
import { expect, it } from 'vitest'
import { describeRetried, type Finished } from './retried.ts'

function moduleOf(
  relativeModuleId: string,
  tests: readonly [name: string, flaky: boolean, message?: string][],
): Finished {
  const all = tests.map(([fullName, flaky, message]) => ({
    fullName,
    diagnostic: () => ({ flaky }),
    result: () => (message === undefined ? {} : { errors: [{ message }] }),
  }))
  return { relativeModuleId, children: { allTests: () => all } }
}

it('is empty if every test passed at once', () => {
  expect(describeRetried([moduleOf('a.test.ts', [['one', false]]), moduleOf('b.test.ts', [])])).toBe('')
})

it('lists the file and the test, with the first error', () => {
  const modules = [
    moduleOf('a.test.ts', [
      ['one', false],
      ['two > deep', true, 'Property failed after 3 tests\n{ seed: 7 }\nCounterexample: [0]\nShrunk\nstack'],
    ]),
    moduleOf('b.test.ts', [['three', true]]),
  ]
  expect(describeRetried(modules).split('\n')).toEqual([
    '',
    'Passed only on retry; each is a fault of the code or of its test:',
    '  a.test.ts > two > deep',
    '      Property failed after 3 tests',
    '      { seed: 7 }',
    '      Counterexample: [0]',
    '      Shrunk',
    '  b.test.ts > three',
    '',
  ])
})
