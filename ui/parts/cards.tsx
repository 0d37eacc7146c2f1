// Figures side by side. One without a value is left out.
export interface Card {
  readonly name: string
  readonly value: string | number | undefined
  readonly state?: 'good' | 'warn' | 'bad' | undefined
}

export function Cards({ cards }: { readonly cards: readonly Card[] }) {
  return (
    <dl class="cards">
      {cards
        .filter(({ value }) => value !== undefined)
        .map(({ name, value, state }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={state}>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
