import { render } from 'preact'
import { App } from './app.js'
import { html } from './lib/html.js'

const place = document.getElementById('console')
if (!place) throw new Error('the page has a place for the console')
place.replaceChildren()
render(html`<${App} />`, place)
