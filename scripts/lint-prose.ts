import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { TextlintKernel, type TextlintRuleModule } from '@textlint/kernel'
import markdown from '@textlint/textlint-plugin-markdown'
import { Command } from 'commander'
import { extractPassages } from './prose/extract.ts'
import { checkProse } from './prose/plain-english.ts'
import { maxTitleWords } from './prose/words.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Files that are not checked, each with its reason. */
const exceptions: readonly RegExp[] = [
  /^scripts\/prose\//, // The words themselves.
  /^CHANGELOG\.md$/, // A history.
  /^(seed|simulator\/generate)\//, // Names and texts of invented products and people.
  /^contributing\/writing\.md$/, // The glossary names the old words.
  /^client\/(dist|src\/(api|shapes))\//, // Generated from texts that are checked.
  /^migrations\/schema\.sql$/, // Generated from the migrations.
]

const program = new Command('npm run lint:prose --')
  .description('Check that documents, comments, messages, labels and test titles are plain English')
  .argument('[paths...]', 'files or folders to check', [])
  .option('--count', 'print only the number of findings for each folder')
  .addHelpText('after', '\nExamples:\n  npm run lint:prose\n  npm run lint:prose -- src/http docs\n')
  .parse()
const { count } = program.opts<{ count?: boolean }>()

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...program.args], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 100_000_000,
})
  .split('\n')
  .filter(
    path =>
      /\.(md|ts|js|sql)$/.test(path) && !exceptions.some(exception => exception.test(path)) && existsSync(root + path),
  )

const kernel = new TextlintKernel()
/** Applies our word list and patterns to each paragraph, heading and table cell of a document. */
const plainEnglish: TextlintRuleModule = ({ Syntax, RuleError, report, getSource, locator }) => {
  const check = (node: Parameters<typeof getSource>[0]) => {
    if (!node) return
    // A cell can list many items.
    const findings = checkProse(getSource(node)).filter(
      ({ message }) => node.type !== Syntax.TableCell || !message.startsWith('sentence of'),
    )
    for (const { message, index } of findings) report(node, new RuleError(message, { padding: locator.at(index) }))
  }
  return { [Syntax.Paragraph]: check, [Syntax.Header]: check, [Syntax.TableCell]: check }
}

const lines: string[] = []
for (const path of files) {
  const text = readFileSync(root + path, 'utf8')
  const findings = path.endsWith('.md') ? await checkDocument(path, text) : checkSource(path, text)
  lines.push(...findings)
}

if (count) {
  const folders = Map.groupBy(lines, line => line.split('/').slice(0, 2).join('/').split(':')[0] ?? '')
  for (const [folder, findings] of [...folders].sort(([a], [b]) => a.localeCompare(b)))
    console.log(`${String(findings.length).padStart(6)}  ${folder}`)
} else for (const line of lines) console.log(line)
process.exitCode = lines.length ? 1 : 0
console.log(`${lines.length} findings in ${files.length} files`)

/** Checks a Markdown document: its words, and that it says "if" at least as often as "where". */
async function checkDocument(path: string, text: string): Promise<string[]> {
  const { messages } = await kernel.lintText(text, {
    filePath: path,
    ext: '.md',
    plugins: [{ pluginId: 'markdown', plugin: markdown.default ?? markdown }],
    rules: [{ ruleId: 'plain-english', rule: plainEnglish }],
  })
  const findings = messages.map(({ loc, message }) => `${path}:${loc.start.line}: ${message}`)
  const occurrences = (word: string) => text.match(new RegExp(`\\b${word}\\b`, 'gi'))?.length ?? 0
  if (occurrences('where') > occurrences('if'))
    findings.push(`${path}:1: "where" ${occurrences('where')} times, "if" ${occurrences('if')} times`)
  return findings
}

/** Checks the comments and sentences of a source file. In tests, only comments and titles count. */
function checkSource(path: string, text: string): string[] {
  return extractPassages(path, text)
    .filter(({ kind }) => kind !== 'string' || !/^test\//.test(path))
    .flatMap(({ text: passage, line, kind }) => [
      ...checkProse(passage).map(
        ({ message, index }) => `${path}:${line + (passage.slice(0, index).match(/\n/g)?.length ?? 0)}: ${message}`,
      ),
      ...(kind === 'title' && passage.split(' ').length > maxTitleWords
        ? [`${path}:${line}: title of ${passage.split(' ').length} words; at most ${maxTitleWords}`]
        : []),
    ])
}
