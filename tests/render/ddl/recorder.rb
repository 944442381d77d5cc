# HBase's shell as far as `create` needs it: it runs files and prints, a line of JSON for each, what
# was asked for. Text and bytes are printed as hex, since they may be no text at all.
#
#   ruby recorder.rb CONSTANTS [exists] FILE...
#
# CONSTANTS are the words that the shell knows without quotes, with commas between. After `exists`
# every namespace is there already, and creating it fails as it does in the shell.
#
# The shell's own `create` is admin.rb of HBase's hbase-shell.

require 'json'
require 'stringio'

ARGV.shift.split(',').each { |word| Object.const_set(word, word) }
$taken = ARGV[0] == 'exists' && !ARGV.shift.nil?

def hex(text)
  text.b.unpack1('H*')
end

def hexes(words)
  words.to_h { |word, value| [hex(word), hex(value.to_s)] }
end

# Bytes.toBytesBinary: a backslash, an x and two hexadecimal digits in upper case are one byte.
def from_binary(text)
  text.b.gsub(/\\x([0-9A-F]{2})/n) { $1.hex.chr }
end

def create_namespace(name)
  $asked['namespaces'] << hex(name)
  raise "Namespace #{name} already exists" if $taken
end

def create(name, *arguments)
  raise ArgumentError, 'a table more than once' if $asked.key?('name')
  $asked['name'] = hex(name)
  arguments.flatten.compact.each { |one| one.key?(NAME) ? family(one) : words(one) }
end

def family(given)
  name, settings = given.delete(NAME), given.delete(CONFIGURATION) || {}
  given['TTL'] = 2_147_483_647 if given['TTL'] == 'FOREVER'
  $asked['families'] << [hex(name), hexes(given), hexes(settings)]
end

def words(given)
  (given.delete(SPLITS) || []).each { |key| $asked['splits'] << hex(from_binary(key)) }
  $asked['words'].merge!(hexes(given.delete(METADATA) || {}))
  raise ArgumentError, "the shell would ignore #{given}" unless given.empty?
end

ARGV.each do |file|
  $asked = { 'namespaces' => [], 'families' => [], 'splits' => [], 'words' => {} }
  $stdout = StringIO.new
  load(file)
  $asked['said'] = $stdout.string
  STDOUT.puts(JSON.generate($asked))
end
