import { Marked, type Tokens } from 'marked'
import { pause } from '../../concurrency/turns.ts'
import { escapeHtml } from '../../domain/values/html.ts'

/** A Markdown page as HTML. */
interface RenderedPage {
  title: string
  html: string
  /** The headings of level 2. */
  headings: { id: string; text: string }[]
}

/** HTML that the documents may contain. Any other tag is shown as text, so that `<service>` in a sentence stays visible. */
const allowedHtml = /^<\/?(details|summary)\b[^>]*>/

/** Returns the anchor of a heading, as GitHub builds it. */
export const toAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

/** Renders the sections of a page. `resolve` returns the address for the target of a link or an image. */
export async function renderMarkdown(
  sections: readonly string[],
  resolve: (target: string) => string,
): Promise<RenderedPage> {
  let title = ''
  const headings: RenderedPage['headings'] = []
  const anchors = new Map<string, number>()
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        const content = this.parser.parseInline(tokens)
        if (depth === 1) {
          title = toText(text)
          return `<h1>${content}</h1>\n`
        }
        const anchor = toAnchor(toText(text))
        const count = anchors.get(anchor) ?? 0
        anchors.set(anchor, count + 1)
        const id = escapeHtml(count ? `${anchor}-${count}` : anchor)
        if (depth === 2) headings.push({ id, text: toText(text) })
        return `<h${depth} id="${id}">${content} <a class="anchor" href="#${id}" aria-label="Link to ${escapeHtml(toText(text))}">#</a></h${depth}>\n`
      },
      link({ href, tokens, raw }) {
        // An address in a sentence, such as an example of a setting, is text.
        if (!raw.startsWith('[')) return escapeHtml(raw)
        return `<a href="${escapeHtml(resolve(href))}">${this.parser.parseInline(tokens)}</a>`
      },
      image: ({ href, text }) =>
        `<img src="${escapeHtml(resolve(href))}" alt="${escapeHtml(text)}" loading="lazy" decoding="async">`,
      code: ({ text, lang = '' }) =>
        `<pre tabindex="0"><code${lang && ` class="language-${escapeHtml(lang)}"`}>${escapeHtml(text)}\n</code></pre>\n`,
      tablecell({ tokens, header, align }) {
        const content = this.parser.parseInline(tokens)
        const tag = header && content ? 'th' : 'td'
        return `<${tag}${align ? ` align="${align}"` : ''}>${content}</${tag}>\n`
      },
      html: ({ text }: Tokens.HTML | Tokens.Tag) => renderHtml(text),
    },
    hooks: {
      // A wide table scrolls on its own, also by the keyboard.
      postprocess: rendered =>
        rendered
          .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
          .replaceAll('</table>', '</table></div>'),
    },
  })
  let html = ''
  for (const section of sections) {
    await pause()
    html += marked.parse(section, { async: false })
  }
  return { title, html, headings }
}

/** Returns allowed tags as they are, without comments, and anything else escaped. */
const renderHtml = (text: string) =>
  text
    .replaceAll(/<!--.*?-->/gs, '')
    .replaceAll(/<[^>]*>|[^<]+|</g, part => (allowedHtml.test(part) || !part.startsWith('<') ? part : escapeHtml(part)))

/** Returns Markdown as plain text: for titles and for the search. */
export const toText = (markdown: string) =>
  markdown
    .replaceAll(/<!--.*?-->|<\/?(details|summary)[^>]*>/gs, ' ')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^ *```\w*$|^ *\|[-| :]+\|$/gm, ' ')
    .replaceAll(/[`*|]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
