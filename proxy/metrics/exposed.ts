// What is exposed to scrapes beside the families of the workers, and how.

export interface PlainMetric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly values: () => readonly { readonly labels?: Readonly<Record<string, string>>; readonly value: number }[]
}

export interface Exposition {
  /** `accept`: the header of the scrape. */
  scrape(accept: string | undefined): Promise<{ contentType: string; body: string | Uint8Array }>
}
