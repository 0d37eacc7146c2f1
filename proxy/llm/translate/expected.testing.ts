// The answer that a client must see in a scenario, whatever the formats are. For tests; not used by the proxy.
import type { SeenAnswer } from './client.testing.ts'
import type { Scenario } from './vendors.testing.ts'

/** `stop`: the reason for the end as the format of the client spells it. */
export function expected(scenario: Scenario, stop: string): SeenAnswer {
  const { reasoning, text, image, calls = [], usage } = scenario
  return {
    reasoning: reasoning?.text ?? '',
    text: text ?? '',
    ...(image !== undefined && { images: [image] }),
    calls: calls.map(({ id, name, input }) => ({
      id,
      name,
      input: JSON.parse(input === '' ? '{}' : input) as unknown,
    })),
    stop,
    input: usage.input,
    cached: usage.cached ?? 0,
    output: usage.output,
  }
}
