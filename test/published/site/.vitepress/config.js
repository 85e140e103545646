// The site of the documentation. SITE_OUT is the folder to write, SITE_BASE the path of its address.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { copyTo, groups, slug, source } from '../pages.js'

const here = fileURLToPath(new URL('..', import.meta.url))
const pages = path.join(here, '.pages')
copyTo(pages)

export default defineConfig({
  title: 'retry',
  description: 'Retry and backoff for Go',
  base: process.env.SITE_BASE ?? '/retry/',
  head: [['link', { rel: 'icon', href: 'data:,' }]], // none
  srcDir: pages,
  outDir: process.env.SITE_OUT ?? path.join(here, '.site'),
  markdown: {
    anchor: { slugify: slug },
    // Text between braces is text: pages are no templates of Vue.
    config: md => {
      const text = md.renderer.rules.text
      md.renderer.rules.text = (...given) => text(...given).replaceAll('{{', '&#123;&#123;')
    },
  },
  themeConfig: {
    sidebar: groups(),
    outline: [2, 3],
    nav: [
      { text: 'All pages', link: '/docs/index.md' },
      { text: 'Playground', link: '/playground/index.html', target: '_self' },
      { text: 'go doc', link: 'https://pkg.go.dev/github.com/gobackoff/retry' },
    ],
    socialLinks: [{ icon: 'github', link: source }],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          // Reference and pages for maintainers come last.
          searchOptions: { boostDocument: page => (/CHANGELOG|CONTRIBUTING|maintainers|reference|[/]test[/]/.test(page) ? 0.3 : 1) },
        },
      },
    },
  },
})
