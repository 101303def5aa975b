import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const samples = fileURLToPath(new URL('../../examples/shop/', import.meta.url))

/** The languages of the samples, in the order of the pages: the folder's name, the title and the word after the fence. */
const languages = [
  ['curl', 'curl', 'sh'],
  ['typescript', 'TypeScript', 'ts'],
  ['python', 'Python', 'py'],
  ['php', 'PHP', 'php'],
] as const

/** Returns a sample in each of its languages, as blocks that a reader can fold. */
const renderSample = (name: string) =>
  languages
    .flatMap(([folder, title, fence]) =>
      globSync(`${name}.*`, { cwd: samples + folder }).map(file => {
        const code = readFileSync(`${samples}${folder}/${file}`, 'utf8')
        return `<details${folder === 'curl' ? ' open' : ''}><summary>${title}</summary>\n\n\`\`\`${fence}\n${code}\`\`\`\n\n</details>\n`
      }),
    )
    .join('\n')

/** Returns a page with the current files between its lines `<!-- sample: name -->` and `<!-- /sample -->`. Throws if a sample has no file. */
export const includeSamples = (page: string) =>
  page.replaceAll(/^<!-- sample: (\S+) -->\n.*?^<!-- \/sample -->$/gms, (_, name: string) => {
    const blocks = renderSample(name)
    if (!blocks) throw new Error(`No sample ${name} in examples/shop.`)
    return `<!-- sample: ${name} -->\n\n${blocks}\n<!-- /sample -->`
  })
