import { render } from 'preact'
import { App } from './app.js'
import { html } from './lib/html.js'

const container = document.getElementById('console')
if (!container) throw new Error('element #console not found')
container.replaceChildren()
render(html`<${App} />`, container)
