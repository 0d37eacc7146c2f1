import { expect, it } from 'vitest'
import { parseHosts } from './hosts-file.ts'

it('reads names and their addresses', () => {
  const text =
    '127.0.0.1\tlocalhost\n::1 localhost ip6\n# 1.1.1.1 no\nnonsense a\n10.0.0.1 A.test # b.test\n10.0.0.1 a.test\n10.0.0.2 a.test\n'
  expect(Object.fromEntries(parseHosts(text))).toEqual({
    localhost: ['127.0.0.1', '::1'],
    ip6: ['::1'],
    'a.test': ['10.0.0.1', '10.0.0.2'],
  })
})
