import { registerHooks } from 'node:module'

const root = new URL('..', import.meta.url).href
const packages = new URL('node_modules/', root).href

// Our own imports name their file whole, so that there is nothing to look for: Node would ask the disk for each of several hundred modules where it is
// and of which kind, which is a quarter of the CPU of a start and of every command.
registerHooks({
  resolve(specifier, context, next) {
    const from = context.parentURL
    if (!from?.startsWith(root) || from.startsWith(packages) || !/^\..*\.ts$/.test(specifier))
      return next(specifier, context)
    return { url: new URL(specifier, from).href, format: 'module-typescript', shortCircuit: true }
  },
})
