// Copies the pages of the repository into a folder for a generator of sites. Only links change,
// so the pages themselves need to know nothing of the generator.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
export const source = 'https://github.com/gobackoff/retry'
const map = 'docs/README.md'

const list = (...patterns) => execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns], { cwd: repository, encoding: 'utf8' }).split('\n').filter(Boolean)

// A page of the site is a Markdown file that people read. GitHub, tests and those who change the
// drivers of the AWS SDKs read the others.
const pages = list('*.md').filter(name => !/^\.github\/|\/(drivers|testdata)\//.test(name))
const pictures = list('docs/*.svg', 'docs/*.png')
const isHere = new Set([...pages, ...pictures])

const read = name => readFileSync(path.join(repository, name), 'utf8')
const title = name => read(name).match(/^# (.*)$/m)[1].replaceAll('`', '')

// place returns the path of a file in the folder. The generator makes index.md the page of its folder.
const place = name => name.replace(/README\.md$/, 'index.md')

// slug returns the anchor that GitHub gives a heading.
export const slug = heading => heading.trim().toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')

// destination returns where a link of a page leads: to another page, or to a file in the
// repository. A link to a folder leads to its README.md, if there is one.
function destination(from, href) {
  const [, file, anchor = ''] = href.match(/^([^#]*)(#.*)?$/)
  if (file === '' || /^[a-z]+:/.test(file)) {
    return href
  }
  const here = path.posix.dirname(from)
  const target = path.posix.join(here, file).replace(/\/$/, '')
  for (const name of [target, path.posix.join(target, 'README.md')]) {
    if (isHere.has(name)) {
      return path.posix.relative(here, place(name)) + anchor
    }
  }
  if (!existsSync(path.join(repository, target))) {
    throw new Error(`${from} links to ${href}, which does not exist`)
  }
  return `${source}/blob/main/${target}${anchor}`
}

// withLinks changes the links of a page, except in code. It drops badges, which are pictures of
// other servers.
function withLinks(name) {
  const code = /(```[^]*?```|`[^`\n]+`)/
  return read(name).split(code).map((part, i) => {
    if (i % 2 === 1) {
      return part
    }
    return part.replace(/^\[!\[.*\n/m, '').replace(/\]\(([^()\s]+)\)/g, (_, href) => `](${destination(name, href)})`)
  }).join('')
}

// copyTo writes the pages and their pictures into a new folder.
export function copyTo(folder) {
  rmSync(folder, { recursive: true, force: true })
  for (const name of isHere) {
    const to = path.join(folder, place(name))
    mkdirSync(path.dirname(to), { recursive: true })
    writeFileSync(to, pages.includes(name) ? withLinks(name) : readFileSync(path.join(repository, name)))
  }
}

// groups returns the headings of the map, and under each the pages to which it links for the
// first time, so that there is no second list of the pages.
export function groups() {
  const found = []
  const seen = new Set()
  for (const section of read(map).split(/^##? /m).slice(1)) {
    const items = []
    for (const [, href] of section.matchAll(/\]\(([^)\s]+)\)/g)) {
      const name = path.posix.join('docs', href.replace(/#.*/, ''))
      if (pages.includes(name) && !seen.has(name)) {
        seen.add(name)
        items.push({ text: title(name), link: '/' + place(name) })
      }
    }
    if (items.length > 0) {
      found.push({ text: section.split('\n')[0], items })
    }
  }
  return found
}
