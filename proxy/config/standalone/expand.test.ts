import { describe, expect, it } from 'vitest'
import { expandVariables } from './expand.ts'

const environment = { NAME: 'value', EMPTY: '', HOME: '/home/user', LINES: 'a\nb' }

function expand(text: string): string {
  const { text: expanded, problems } = expandVariables({ path: 'f.yaml', text, environment })
  expect(problems).toEqual([])
  return expanded
}

describe('expandVariables', () => {
  it.each([
    ['$NAME', 'value'],
    ['a${NAME}b', 'avalueb'],
    ['$NAME.x', 'value.x'],
    ['${MISSING:-other}', 'other'],
    ['${MISSING:-}', ''],
    ['${EMPTY:-other}', 'other'],
    ['${EMPTY}', ''],
    ['${NAME:-other}', 'value'],
    ['${MISSING:-a:-b}', 'a:-b'],
    ['$$NAME', '$NAME'],
    ['$$$$', '$$'],
    ['$$$NAME', '$value'],
    ['^/a$', '^/a$'],
    ['$1 $. $', '$1 $. $'],
    ['~/x', '/home/user/x'],
    ['root: ~/ca.pem', 'root: /home/user/ca.pem'],
    ['root: "~/ca.pem"', 'root: "/home/user/ca.pem"'],
    ['a/~/b ~user ~', 'a/~/b ~user ~'],
  ])('converts %j to %j', (text, expected) => {
    expect(expand(text)).toBe(expected)
  })

  it('does not expand the value of a variable', () => {
    expect(expandVariables({ path: 'f', text: '$A', environment: { A: '$B' } }).text).toBe('$B')
  })

  it.each([
    ['x: 1\ny: $MISSING', 2, 4, 'the environment variable MISSING is not set'],
    ['${MISSING}', 1, 1, 'the environment variable MISSING is not set'],
    ['a ${NAME', 1, 3, 'has no closing }'],
    ['a ${NAME-x}', 1, 3, 'must contain a variable name'],
    ['${}', 1, 1, 'must contain a variable name'],
    ['a: $schema', 1, 4, 'the environment variable schema is not set'],
    ['{"a": "$schema"}', 1, 8, 'the environment variable schema is not set'],
    ['$constructor', 1, 1, 'the environment variable constructor is not set'],
  ])('rejects %j', (text, line, column, message) => {
    const { problems } = expandVariables({ path: 'f.yaml', text, environment })
    expect(problems).toMatchObject([{ file: 'f.yaml', line, column, severity: 'error' }])
    expect(problems[0]?.message).toContain(message)
  })

  it.each([
    '# yaml-language-server: $schema=gw-standalone.schema.json\n',
    'a: 1 # ${MISSING}\n',
    'a: # $MISSING ${\n  - 1\n',
    'a: [1, # $MISSING\n 2]\n',
    '{ a: 1 } # ~/ $$\n',
    '---\n# $MISSING\na: 1\n...\n# ${MISSING}',
    '{"$schema": "gw.json", "a": 1}',
    '{"$schema":"gw.json"}',
    '$schema: gw.json\n',
  ])('does not change the comment or the schema of %j', (text) => {
    expect(expand(text)).toBe(text)
  })

  it.each([
    ['a: x#$NAME', 'a: x#value'],
    ['a: "# $NAME"', 'a: "# value"'],
    ["a: '# $NAME' # $NAME", "a: '# value' # $NAME"],
    ['a: |\n  # $NAME\n# $NAME\n', 'a: |\n  # value\n# $NAME\n'],
    ['a: >-\n  x\n  # $NAME\nb: 1', 'a: >-\n  x\n  # value\nb: 1'],
    ['a: { port: ${MISSING:-80} } # $NAME\nb: $NAME', 'a: { port: 80 } # $NAME\nb: value'],
    ['a: ${MISSING:-x #y} # $NAME', 'a: x #y # $NAME'],
    ['{"a": "# $NAME"}', '{"a": "# value"}'],
  ])('converts %j to %j, which only looks like a comment', (text, expected) => {
    expect(expand(text)).toBe(expected)
  })

  it('reports every variable that is not set', () => {
    const { problems } = expandVariables({ path: 'f', text: '$A\n$B', environment: {} })
    expect(problems.map(({ line }) => line)).toEqual([1, 2])
  })

  it('maps offsets to the file', () => {
    const text = 'a: $LINES\nb: ${NAME}c'
    const { text: expanded, original } = expandVariables({ path: 'f', text, environment })
    expect(expanded).toBe('a: a\nb\nb: valuec')
    expect(original.offsetOf(0)).toBe(0)
    expect(original.offsetOf(expanded.indexOf('a\nb'))).toBe(text.indexOf('$LINES'))
    expect(original.offsetOf(expanded.indexOf('\nb') + 1)).toBe(text.indexOf('$LINES'))
    expect(original.offsetOf(expanded.indexOf('b: '))).toBe(text.indexOf('b: '))
    expect(original.offsetOf(expanded.indexOf('c'))).toBe(text.lastIndexOf('c'))
  })
})
