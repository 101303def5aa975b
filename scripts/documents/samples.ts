import { readSample } from '../../src/http/openapi/samples.ts'

/** Returns a sample in each of its languages, as blocks that a reader can fold. */
const renderSample = (name: string) =>
  readSample(name)
    .map(({ label, extension, source }, i) => {
      const open = i === 0 ? ' open' : ''
      return `<details${open}><summary>${label}</summary>\n\n\`\`\`${extension}\n${source}\`\`\`\n\n</details>\n`
    })
    .join('\n')

/** Returns a page with the current files between its lines `<!-- sample: name -->` and `<!-- /sample -->`. Throws if a sample has no file. */
export const includeSamples = (page: string) =>
  page.replaceAll(/^<!-- sample: (\S+) -->\n.*?^<!-- \/sample -->$/gms, (_, name: string) => {
    const blocks = renderSample(name)
    if (!blocks) throw new Error(`No sample ${name} in examples/shop.`)
    return `<!-- sample: ${name} -->\n\n${blocks}\n<!-- /sample -->`
  })
