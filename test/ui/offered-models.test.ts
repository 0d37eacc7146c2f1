// Where names of models lead, as the page Models says it.
import { expect, it } from 'vitest'
import type { Dump } from '../../ui/api.ts'
import { offeredModels } from '../../ui/offered-models.ts'

function leadsTo(model: object): readonly string[] | undefined {
  const backend = { llmRouter: { name: 'models', namespace: 'shop', target: { models: [{ name: 'm', ...model }] } } }
  const dump = { backends: [{ backend }] } as unknown as Dump // the only member that is read
  return offeredModels(dump)[0]?.leadsTo
}

it.each([
  [{ backend: 'gpt' }, ['shop/gpt']],
  [
    {
      weighted: [
        { backend: 'gpt', model: 'gpt-5', weight: 3 },
        { backend: 'claude', weight: 1 },
        { model: 'gone', weight: 0 },
      ],
    },
    ['75 % to shop/gpt as gpt-5', '25 % to shop/claude', '0 % to a model that is not there'],
  ],
  [
    { weighted: [{ backend: 'a' }, { backend: 'b' }, { backend: 'c' }] },
    ['a', 'b', 'c'].map((name) => `33.3 % to shop/${name}`),
  ],
  [{ weighted: [{ backend: 'a', weight: 0 }] }, ['0 % to shop/a']],
  [
    {
      conditional: [
        { backend: 'gpt', when: 'request.headers["x-tier"] == "gold"' },
        { backend: 'small', model: 's' },
      ],
    },
    ['shop/gpt, if request.headers["x-tier"] == "gold"', 'shop/small as s, otherwise'],
  ],
])('says where %j leads', (model, lines) => {
  expect(leadsTo(model)).toEqual(lines)
})
