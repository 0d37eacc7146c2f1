// Where the key of a provider goes.
import { describe, expect, it } from 'vitest'
import { HeaderList } from '../../message/headers.ts'
import { anthropic } from './anthropic.ts'

describe('the key of the messages format', () => {
  it.each([
    ['Bearer sk-1', 'sk-1', undefined],
    ['Bearer Bearer sk-1', 'sk-1', undefined],
    ['bearer  sk-1', 'sk-1', undefined],
    ['Bearer sk-ant-oat-1', undefined, 'Bearer sk-ant-oat-1'],
    ['Basic abc', undefined, 'Basic abc'],
  ])('%s', (given, key, authorization) => {
    const headers = HeaderList.of([['authorization', given]])
    anthropic.prepareHeaders(headers, 'Key', undefined)
    expect([headers.get('x-api-key'), headers.get('authorization')]).toEqual([key, authorization])
  })
})
