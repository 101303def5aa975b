import { escapeHtml } from '../domain/values/html.ts'

/** HTML source, as opposed to text that must be escaped. */
class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Tags a template as HTML. Each `${value}` is escaped, unless it is HTML. */
export const html = (strings: TemplateStringsArray, ...values: (string | Html)[]) =>
  new Html(strings.reduce((text, part, i) => text + render(values[i - 1] ?? '') + part))

/** Marks text as HTML without escaping it. Use it only for constants of this code base. */
export const raw = (text: string) => new Html(text)

const render = (value: string | Html) => (value instanceof Html ? value.text : escapeHtml(value))
