// Two traces beside each other: one snapshot of each at the same stage, and what differs.
import { useState } from 'preact/hooks'
import type { TraceEvent } from '../api.ts'
import { Choice } from './fields.tsx'
import { patchLines } from './patch-lines.ts'

/** Differ in every request. */
const ALWAYS_DIFFERENT = /^\/(?:request\/startTime|source\/port|proxy(?:\/|$))/

export interface ComparisonProps {
  readonly before: readonly TraceEvent[]
  readonly after: readonly TraceEvent[]
  /** Of both, in this order. */
  readonly titles: readonly [string, string]
}

export function Comparison({ before, after, titles }: ComparisonProps) {
  const [one, other] = [snapshotsOf(before), snapshotsOf(after)]
  const stages = [...new Set([...one.keys(), ...other.keys()])]
  const [chosen, setChosen] = useState('')
  const differing = stages.find((name) => linesOf(one.get(name), other.get(name)).join() !== SAME)
  const stage = stages.includes(chosen) ? chosen : (differing ?? stages.at(-1) ?? '')
  const [left, right] = [one.get(stage), other.get(stage)]
  return (
    <>
      <div class="bar">
        <Choice label="Snapshot" value={stage} options={stages} onValue={setChosen} />
      </div>
      <h3>Difference, without times and ports of clients</h3>
      <pre tabIndex={0} aria-label="Difference">
        {left === undefined || right === undefined
          ? `only “${titles[left === undefined ? 1 : 0]}” has this snapshot`
          : linesOf(left, right).join('\n')}
      </pre>
      <div class="split even">
        <State title={titles[0]} state={left} />
        <State title={titles[1]} state={right} />
      </div>
    </>
  )
}

const SAME = 'no change'

function linesOf(left: unknown, right: unknown): string[] {
  return patchLines(left, right, (path) => ALWAYS_DIFFERENT.test(path))
}

function State({ title, state }: { readonly title: string; readonly state: unknown }) {
  return (
    <div>
      <h3>{title}</h3>
      <pre tabIndex={0} aria-label={`Snapshot ${title.toLowerCase()}`}>
        {state === undefined ? 'none' : JSON.stringify(state, undefined, 2)}
      </pre>
    </div>
  )
}

/** By stage, in their order; a policy that ran twice has its last state. */
function snapshotsOf(events: readonly TraceEvent[]): ReadonlyMap<string, unknown> {
  const own = events.filter(({ scope = [] }) => scope.length === 0)
  return new Map(
    own.flatMap(({ message: { stage, requestState } }) =>
      stage === undefined || requestState === undefined ? [] : [[stage, requestState] as const],
    ),
  )
}
