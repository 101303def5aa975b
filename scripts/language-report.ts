import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { findPrivateNames } from './prose/declarations.ts'
import { extractPassages } from './prose/extract.ts'
import { checkProse, statesRule } from './prose/plain-english.ts'

/** Counts how plain the language of a checkout is, to compare two revisions. */
const { root } = new Command('node scripts/language-report.ts')
  .option('--root <directory>', 'checkout to measure', fileURLToPath(new URL('..', import.meta.url)))
  .parse()
  .opts<{ root: string }>()

const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8', maxBuffer: 100_000_000 })
  .split('\n')
  .filter(path => /\.(ts|js)$/.test(path) && !/^client\/(dist|src\/(api|shapes))\//.test(path))
  .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))
const selectFolders = (...folders: string[]) =>
  files.filter(({ path }) => folders.some(folder => path.startsWith(`${folder}/`)))
const source = selectFolders('src')
const listPassages = (sources: typeof files, kind: 'comment' | 'string') =>
  sources.flatMap(({ path, text }) => extractPassages(path, text).filter(passage => passage.kind === kind))

const comments = listPassages(files, 'comment').map(({ text }) => text)
const countWord = (word: string) =>
  comments.reduce((sum, text) => sum + (text.match(new RegExp(`\\b${word}\\b`, 'gi'))?.length ?? 0), 0)
const messages = listPassages(source, 'string').map(({ text }) => text)
const sourceProse = [...listPassages(source, 'comment'), ...listPassages(source, 'string')]
const namesEndingInOf = source.flatMap(({ text }) =>
  [...text.matchAll(/(?:function\*?|const|let)\s+([a-z]\w*Of)\b/g)].map(([, name]) => name),
)

/** Groups of source files: the modules in the layers of ARCHITECTURE.md (folders and files of `src/`), and the folders at every depth. */
const groupings = {
  module: (path: string) => path.split('/').slice(0, 2).join('/'),
  folder: (path: string) => (dirname(path) === 'src' ? path : dirname(path)),
}
const countGroups = (group: (path: string) => string) => new Set(source.map(({ path }) => group(path))).size
const countDependencies = (group: (path: string) => string) =>
  new Set(
    source.flatMap(({ path, text }) =>
      [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)]
        .map(([, target]) => group(normalize(join(dirname(path), target ?? ''))))
        .filter(target => target.startsWith('src/') && target !== group(path))
        .map(target => `${group(path)} ${target}`),
    ),
  ).size
const countLines = (sources: typeof files) => sources.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)

console.table({
  'prose findings in src': sourceProse.reduce((sum, { text }) => sum + checkProse(text).length, 0),
  '"where" in comments': countWord('where'),
  '"if" in comments': countWord('if'),
  'names ending in …Of in src': namesEndingInOf.length,
  'messages that state a rule as a fact': messages.filter(statesRule).length,
  'declarations with words of the table': files.flatMap(({ path, text }) => findPrivateNames(path, text)).length,
  'modules of src': countGroups(groupings.module),
  'dependencies between modules': countDependencies(groupings.module),
  'folders of src': countGroups(groupings.folder),
  'dependencies between folders': countDependencies(groupings.folder),
  'lines of src': countLines(source),
  'lines of test': countLines(selectFolders('test')),
  'lines of seed, scenarios, bench, scripts, simulator': countLines(
    selectFolders('seed', 'scenarios', 'bench', 'scripts', 'simulator'),
  ),
  'lines of console and client': countLines(selectFolders('console', 'client')),
})
