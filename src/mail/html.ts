import { escaped } from '../domain/values/html.ts'

/** HTML, as opposed to text that has yet to be escaped. */
class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** HTML as it is written; each `${value}` is escaped, unless it is HTML itself. */
export const html = (strings: TemplateStringsArray, ...values: (string | Html)[]) =>
  new Html(strings.reduce((text, part, i) => text + rendered(values[i - 1] ?? '') + part))

/** Text from this code base, never from outside, as HTML. */
export const raw = (text: string) => new Html(text)

const rendered = (value: string | Html) => (value instanceof Html ? value.text : escaped(value))
